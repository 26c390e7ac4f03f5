"""Can records of the same person be linked, across rows, tables, releases and time?"""
