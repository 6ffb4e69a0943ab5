/// `penstock serve`: one node, from its configuration to its end.
@NullMarked
package io.penstock.node.serve;

import org.jspecify.annotations.NullMarked;
