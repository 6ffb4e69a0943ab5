package io.penstock.cluster.infinispan;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.TCPPING;
import org.jgroups.util.Responses;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds members at seeds. At each attempt it looks the names up again and asks each of their addresses, so it follows
/// a name whose addresses change, such as a headless service of Kubernetes. It also asks members that it once saw,
/// which finds the parts of a cluster that was split.
public final class SeedDiscovery extends TCPPING {
  private static final short PROTOCOL = 1702;
  private static final Logger LOG = LoggerFactory.getLogger(SeedDiscovery.class);

  static {
    ClassConfigurator.addProtocol(PROTOCOL, SeedDiscovery.class);
  }

  private final List<Seed> seeds;
  private final Names names;
  private volatile boolean isStarted;

  /// Looks names up, as `InetAddress.getAllByName`.
  @FunctionalInterface
  public interface Names {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  SeedDiscovery(List<Seed> seeds, Names names) {
    this.seeds = List.copyOf(seeds);
    this.names = names;
    async_discovery = true; // a name server may take its time
    async_discovery_use_separate_thread_per_request = true; // so may a seed that does not answer
    setInitialHosts(List.of());
  }

  @Override
  public void start() throws Exception {
    super.start();
    isStarted = true;
  }

  /// The transport wants a dynamic discovery if its port is free to choose. Members that know each other's addresses
  /// send them to those who join only if discovery is not dynamic.
  @Override
  public boolean isDynamic() {
    return !isStarted;
  }

  @Override
  public void findMembers(List<Address> members, boolean isFirst, Responses responses) {
    setInitialHosts(addresses());
    super.findMembers(members, isFirst, responses);
  }

  private List<InetSocketAddress> addresses() {
    List<InetSocketAddress> all = new ArrayList<>();
    for (Seed seed : seeds) {
      try {
        for (InetAddress address : names.addresses(seed.host())) {
          all.add(new InetSocketAddress(address, seed.port()));
        }
      } catch (UnknownHostException e) {
        LOG.info("seed {} has no address now", seed);
      }
    }
    return all;
  }
}
