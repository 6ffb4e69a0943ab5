/// The commands that talk to a running node: `put`, `get`, `match`, `stat`, `events`, `load`, `check`.
@NullMarked
package io.penstock.node.client;

import org.jspecify.annotations.NullMarked;
