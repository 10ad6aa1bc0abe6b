"""Files in object stores and on web servers; imported only when a URL is used."""
