"""What do many scenarios show, and how far are they?"""
