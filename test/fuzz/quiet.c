/*
 * quiet.c
 *		Functions of gettext that do nothing.  In Debian 12 a server with AddressSanitizer
 *		hangs in them.
 */
char *
bindtextdomain(const char *domain, const char *folder)
{
	return (char *) folder;
}

char *
bind_textdomain_codeset(const char *domain, const char *codeset)
{
	return (char *) codeset;
}

char *
textdomain(const char *domain)
{
	return (char *) domain;
}
