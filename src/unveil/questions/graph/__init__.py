"""Who is found in a released graph?"""
