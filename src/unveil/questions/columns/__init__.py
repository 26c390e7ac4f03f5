"""What is in each column of a table?"""
