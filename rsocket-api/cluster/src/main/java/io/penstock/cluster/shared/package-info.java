/// Small tables that all members of a cluster have, in one replicated cache of Infinispan.
@NullMarked
package io.penstock.cluster.shared;

import org.jspecify.annotations.NullMarked;
