/// Walks the files of a journal: the check of every byte, and the quarantine of damaged ones.
@NullMarked
package io.penstock.storage.check;

import org.jspecify.annotations.NullMarked;
