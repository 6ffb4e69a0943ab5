/// The commands that talk to a running node: `put`, `get`, `match`, `pin`, `unpin`, `remove`, `keep`, `load`, `check`,
/// `stat`, `events`, `registry`; and `password`, which makes a hash of one.
@NullMarked
package io.penstock.node.client;

import org.jspecify.annotations.NullMarked;
