/// Many nodes as one cluster: who is a member, and who says that it has which block. The engine is Infinispan, embedded
/// in each node. A node finds [InfinispanClusters] by `ServiceLoader` if this module is on its class path.
@NullMarked
package io.penstock.cluster;

import org.jspecify.annotations.NullMarked;
