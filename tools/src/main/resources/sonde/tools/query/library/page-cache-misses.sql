-- Pages that were read into the page cache, by thread and file (device and inode)
SELECT thread_name(utid) AS thread, s_dev >> 20 AS major, s_dev & 1048575 AS minor,
       i_ino AS inode, count(*) AS misses
FROM "filemap.mm_filemap_add_to_page_cache"
GROUP BY utid, s_dev, i_ino ORDER BY misses DESC LIMIT 40;
