/// A node as a member of a cluster: the port through which it joins one, and what it asks of it. The engine behind the
/// port is in a module that a node without a cluster never loads.
@NullMarked
package io.penstock.node.cluster;

import org.jspecify.annotations.NullMarked;
