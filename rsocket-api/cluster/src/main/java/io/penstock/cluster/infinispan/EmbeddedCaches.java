package io.penstock.cluster.infinispan;

import io.penstock.cluster.directory.BlockName;
import java.util.concurrent.TimeUnit;
import org.infinispan.AdvancedCache;
import org.infinispan.commons.dataconversion.MediaType;
import org.infinispan.configuration.cache.CacheMode;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.cache.StorageType;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.configuration.global.ShutdownHookBehavior;
import org.infinispan.conflict.MergePolicy;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.partitionhandling.PartitionHandling;
import org.jgroups.Event;
import org.jgroups.JChannel;
import org.jgroups.stack.IpAddress;

/// One member's Infinispan: a replicated cache of the members' records, and a distributed one of the blocks. Everything
/// is in memory; nothing is written to a disk, and nothing registered with JMX.
public final class EmbeddedCaches implements AutoCloseable {
  private static final String MEMBERS = "members";
  private static final String BLOCKS = "blocks";
  private static final String SHARED = "shared";
  private static final long CALL_MILLIS = 4000;
  private static final long LOCK_MILLIS = 2000;
  private static final long TRANSFER_MILLIS = 60_000;

  private final DefaultCacheManager manager;
  private final AdvancedCache<byte[], byte[]> members;
  private final AdvancedCache<byte[], byte[]> blocks;
  private final AdvancedCache<byte[], byte[]> shared;

  private final DeathWatch watch;
  private final MemberTransport transport;
  private final String address;

  private EmbeddedCaches(DefaultCacheManager manager, JChannel channel) {
    this.manager = manager;
    this.watch = channel.getProtocolStack().findProtocol(DeathWatch.class);
    this.transport = channel.getProtocolStack().findProtocol(MemberTransport.class);
    this.address = address(channel);
    this.members = manager.<byte[], byte[]>getCache(MEMBERS).getAdvancedCache();
    this.blocks = manager.<byte[], byte[]>getCache(BLOCKS).getAdvancedCache();
    this.shared = manager.<byte[], byte[]>getCache(SHARED).getAdvancedCache();
  }

  /// Joins the cluster, or forms it. Blocks until the member is in.
  ///
  /// @throws RuntimeException of Infinispan, whose causes say what could not be bound
  static EmbeddedCaches join(JChannel channel, String cluster, String node, StorageType storage) {
    DefaultCacheManager manager = new DefaultCacheManager(global(channel, cluster, node).build(), false);
    try {
      manager.defineConfiguration(MEMBERS, membersConfiguration().build());
      manager.defineConfiguration(SHARED, membersConfiguration().build());
      manager.defineConfiguration(BLOCKS, blocksConfiguration(storage).build());
      manager.start();
      return new EmbeddedCaches(manager, channel);
    } catch (RuntimeException | Error e) {
      manager.stop();
      throw e;
    }
  }

  private static GlobalConfigurationBuilder global(JChannel channel, String cluster, String node) {
    GlobalConfigurationBuilder global = new GlobalConfigurationBuilder();
    new ReadyChannel(channel).giveTo(global);
    global.transport().clusterName(cluster).nodeName(node)
        .distributedSyncTimeout(TRANSFER_MILLIS);
    global.cacheManagerName(node).jmx().disable();
    global.metrics().gauges(false).histograms(false);
    global.cacheContainer().statistics(false);
    global.globalState().disable();
    global.shutdown().hookBehavior(ShutdownHookBehavior.DONT_REGISTER);
    global.serialization().addContextInitializer(new ClusterSchema());
    return global;
  }

  private static ConfigurationBuilder membersConfiguration() {
    ConfigurationBuilder cache = plain(CacheMode.REPL_SYNC);
    cache.memory().storage(StorageType.HEAP);
    cache.clustering().partitionHandling().mergePolicy(MergePolicy.PREFERRED_NON_NULL);
    return cache;
  }

  private static ConfigurationBuilder blocksConfiguration(StorageType storage) {
    ConfigurationBuilder cache = plain(CacheMode.DIST_SYNC);
    cache.clustering().hash().numOwners(1).numSegments(BlockName.SEGMENTS)
        .keyPartitioner(new NamePartitioner());
    cache.memory().storage(storage);
    return cache;
  }

  private static ConfigurationBuilder plain(CacheMode mode) {
    ConfigurationBuilder cache = new ConfigurationBuilder();
    cache.clustering().cacheMode(mode).remoteTimeout(CALL_MILLIS, TimeUnit.MILLISECONDS);
    cache.clustering().stateTransfer().timeout(TRANSFER_MILLIS, TimeUnit.MILLISECONDS);
    // Both parts of a split go on: what they say is soft state, and said again when the split heals.
    cache.clustering().partitionHandling().whenSplit(PartitionHandling.ALLOW_READ_WRITES).mergePolicy(null);
    cache.encoding().mediaType(MediaType.APPLICATION_OCTET_STREAM_TYPE);
    cache.locking().lockAcquisitionTimeout(LOCK_MILLIS, TimeUnit.MILLISECONDS);
    cache.expiration().disableReaper();
    cache.statistics().disable();
    return cache;
  }

  private static String address(JChannel channel) {
    Object physical = channel.down(new Event(Event.GET_PHYSICAL_ADDRESS, channel.getAddress()));
    if (physical instanceof IpAddress ip) {
      return new Seed(ip.getIpAddress().getHostAddress(), ip.getPort()).toString();
    }
    throw new IllegalStateException("a member must have an address of IP (was " + physical + ")");
  }

  /// Where other members reach this one, `HOST:PORT`.
  String address() {
    return address;
  }

  /// What sees members die.
  DeathWatch watch() {
    return watch;
  }

  /// What members talk by.
  MemberTransport transport() {
    return transport;
  }

  DefaultCacheManager manager() {
    return manager;
  }

  AdvancedCache<byte[], byte[]> members() {
    return members;
  }

  AdvancedCache<byte[], byte[]> blocks() {
    return blocks;
  }

  /// Small tables that all members have.
  AdvancedCache<byte[], byte[]> shared() {
    return shared;
  }

  /// Leaves the cluster. Blocks until the member is out.
  @Override
  public void close() {
    manager.stop();
  }
}
