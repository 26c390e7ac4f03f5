"""What can be worked out from the tables of counts that are published?"""
