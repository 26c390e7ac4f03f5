"""If this table is released, what could an adversary do with it, and how sure is that?"""
