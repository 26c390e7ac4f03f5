"""How many entries are given their true token?"""
