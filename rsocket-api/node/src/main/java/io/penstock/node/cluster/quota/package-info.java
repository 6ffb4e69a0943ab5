/// Quotas of spaces over all members of a cluster.
@NullMarked
package io.penstock.node.cluster.quota;

import org.jspecify.annotations.NullMarked;
