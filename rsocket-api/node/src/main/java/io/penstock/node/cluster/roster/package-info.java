/// The members of a cluster as a command and the admin endpoints show them.
@NullMarked
package io.penstock.node.cluster.roster;

import org.jspecify.annotations.NullMarked;
