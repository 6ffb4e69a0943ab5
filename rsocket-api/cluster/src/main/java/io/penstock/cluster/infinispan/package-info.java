/// The engine of a cluster: embedded Infinispan over JGroups. It keeps the record of each member in a replicated cache,
/// and the [io.penstock.cluster.directory.SharedMap] in a distributed one.
@NullMarked
package io.penstock.cluster.infinispan;

import org.jspecify.annotations.NullMarked;
