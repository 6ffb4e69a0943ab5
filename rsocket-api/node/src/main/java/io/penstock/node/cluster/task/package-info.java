/// Tasks of a node of a cluster, done while it serves: it gives its blocks to others, or removes them.
@NullMarked
package io.penstock.node.cluster.task;

import org.jspecify.annotations.NullMarked;
