"""What audits of releases that others made found together: which techniques keep most for the least risk?"""
