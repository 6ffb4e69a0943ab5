/// The connection of a command to a node: its address, its credentials, the requests, and how long they took.
@NullMarked
package io.penstock.node.link;

import org.jspecify.annotations.NullMarked;
