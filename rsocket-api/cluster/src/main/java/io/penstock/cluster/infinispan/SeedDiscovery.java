package io.penstock.cluster.infinispan;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jgroups.Address;
import org.jgroups.Event;
import org.jgroups.Message;
import org.jgroups.PhysicalAddress;
import org.jgroups.conf.ClassConfigurator;
import org.jgroups.protocols.PingData;
import org.jgroups.protocols.PingHeader;
import org.jgroups.protocols.TCPPING;
import org.jgroups.util.NameCache;
import org.jgroups.util.Responses;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Finds members at seeds. At each attempt it looks the names up again and asks each of their addresses, so it follows
/// a name whose addresses change, such as a headless service of Kubernetes. It also asks members that it once saw,
/// which finds the parts of a cluster that was split.
///
/// Members learn each other's `HOST:PORT` from the one that makes the views, which tells it once. Two that missed it
/// hear nothing of each other, and if one of them makes the views later, the other keeps an old one. So a member that
/// is asked for others tells what it knows of them, where JGroups has only the one that is asked for answer.
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

  @Override
  protected Object handle(PingHeader header, Message message) {
    Object result = super.handle(header, message);
    if (header.type() == PingHeader.GET_MBRS_REQ && message.hasArray()) {
      tellOthers(readPingData(message.getArray(), message.getOffset(), message.getLength()), message.getSrc());
    }
    return result;
  }

  private void tellOthers(@Nullable List<PingData> asked, Address asking) {
    if (asked == null) {
      return;
    }
    List<PingData> known = new ArrayList<>();
    for (PingData each : asked) {
      Collection<? extends Address> wanted = each.mbrs();
      if (wanted != null) {
        for (Address member : wanted) {
          PhysicalAddress place = (PhysicalAddress) down_prot.down(new Event(Event.GET_PHYSICAL_ADDRESS, member));
          if (place != null && !member.equals(local_addr) && !member.equals(asking)) {
            known.add(new PingData(member, true, NameCache.get(member), place));
          }
        }
      }
    }
    if (!known.isEmpty()) {
      sendDiscoveryResponse(known, asking);
    }
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
