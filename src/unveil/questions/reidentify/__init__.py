"""Who is behind each masked record, and can that guess be trusted?"""
