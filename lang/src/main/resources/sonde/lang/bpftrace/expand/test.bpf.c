/* import "stdlib/test": tells whether functions in C can be called. */
int __always_true(void)
{
	return 1;
}
