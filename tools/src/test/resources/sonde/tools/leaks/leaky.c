#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/percpu.h>
#include <linux/gfp.h>

static bool fixed;
module_param(fixed, bool, 0444);
static bool fail;
module_param(fail, bool, 0444);

struct item { char bytes[200]; };
static struct kmem_cache *cache;
static void *small[7], *middle[3], *large, *area, *items[5], *words[2];
static struct page *pages;
static void __percpu *counters;

static noinline int leak_small(void)
{
	int i;

	for (i = 0; i < 7; i++)
		small[i] = kmalloc(8, GFP_KERNEL);
	return 0;
}

static noinline void leak_middle(void)
{
	int i;

	for (i = 0; i < 3; i++)
		middle[i] = kzalloc(128, GFP_KERNEL);
}

static noinline void leak_large(void)
{
	large = kmalloc(1 << 20, GFP_KERNEL);
}

static noinline void leak_area(void)
{
	area = vmalloc(100000);
}

static noinline void leak_items(void)
{
	int i;

	for (i = 0; i < 5; i++)
		items[i] = kmem_cache_alloc(cache, GFP_KERNEL);
}

static noinline void leak_pages(void)
{
	pages = alloc_pages(GFP_KERNEL, 2);
}

static noinline void leak_counters(void)
{
	counters = __alloc_percpu(64, 8);
}

static noinline void leak_words(void)
{
	words[0] = kstrdup("never freed", GFP_KERNEL);
	words[1] = kmemdup("0123456789", 10, GFP_KERNEL);
}

static int leaky_open(void)
{
	leak_small();
	leak_middle();
	leak_large();
	leak_area();
	leak_items();
	leak_pages();
	leak_counters();
	leak_words();
	return 0;
}

static void leaky_free(void)
{
	int i;

	for (i = 0; i < 7; i++)
		kfree(small[i]);
	for (i = 0; i < 3; i++)
		kfree(middle[i]);
	kfree(large);
	vfree(area);
	for (i = 0; i < 5; i++)
		kmem_cache_free(cache, items[i]);
	__free_pages(pages, 2);
	free_percpu(counters);
	kfree(words[0]);
	kfree(words[1]);
}

static int __init leaky_init(void)
{
	void *lost;

	cache = kmem_cache_create("leaky_item", sizeof(struct item), 0, SLAB_HWCACHE_ALIGN, NULL);
	if (!cache)
		return -ENOMEM;
	if (fail) {
		lost = kmalloc(300, GFP_KERNEL);
		kmem_cache_destroy(cache);
		if (fixed)
			kfree(lost);
		return -ENODEV;
	}
	return leaky_open();
}

static void __exit leaky_exit(void)
{
	if (fixed) {
		leaky_free();
		kmem_cache_destroy(cache);
	}
}

module_init(leaky_init);
module_exit(leaky_exit);
MODULE_LICENSE("GPL");
