"""Which people should be set aside as a control group?"""
