"""Which privacy metrics can be trusted?"""
