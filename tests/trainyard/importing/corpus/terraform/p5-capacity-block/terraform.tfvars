environment    = "prod"
nodes          = 4
reservation_id = "cr-0123456789abcdef0"
