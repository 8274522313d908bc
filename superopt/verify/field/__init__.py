"""The field reading: graphs at random points of finite fields, and the bound on a wrong accept."""
