package io.penstock.cluster.infinispan;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.JChannel;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;

/// How members talk to each other: JGroups over TCP alone, without multicast, diagnostics and JMX.
///
/// | A member | is missed after |
/// |---|---|
/// | that leaves | one message |
/// | whose process died | 0.1 s: its connections close, and its host refuses others, as [DeathWatch] sees |
/// | whose cable was pulled, or that hangs | 6 to 9 s, by the heartbeats of [FD_ALL3] |
///
/// @param host that is bound
/// @param port that is bound; 0 for a free one
/// @param seal null for messages that anyone can read and send
record ChannelPlan(BoundHost host, int port, List<Seed> seeds, SeedDiscovery.Names names, @Nullable Seal seal,
    ChannelTimes times) {
  private static final int CONNECT_MILLIS = 500;
  private static final int SEND_BUFFER = 640 << 10;
  private static final int MOST_BYTES = 8 << 20;
  private static final int MOST_THREADS = 64;
  private static final int THREAD_IDLE_MILLIS = 10_000;
  private static final int VERIFY_MILLIS = 900;
  private static final int RESEND_MILLIS = 200;
  private static final int NO_SEEDS_MILLIS = 1;
  private static final int STABLE_MILLIS = 5000;
  private static final int STABLE_BYTES = 1 << 20;
  private static final int CREDITS = 4 << 20;
  private static final int FRAGMENT = 60 << 10;

  ChannelPlan {
    seeds = List.copyOf(seeds);
  }

  /// A channel that is not connected yet.
  ///
  /// @param node name of this member in logs
  ///
  /// @throws IOException if JGroups refuses it
  JChannel channel(String node) throws IOException {
    List<Protocol> stack = new ArrayList<>();
    MemberTransport transport = transport();
    stack.add(transport);
    stack.add(new DeathWatch(transport));
    stack.add(new SeedDiscovery(seeds, names));
    stack.add(new MERGE3().setMinInterval(times.meet() / 4).setMaxInterval(times.meet()));
    stack.add(new FD_ALL3().setInterval(times.heartbeat()).setTimeout(times.silence()));
    stack.add(new VERIFY_SUSPECT2().setTimeout(VERIFY_MILLIS));
    stack.add(new NAKACK2().useMcastXmit(false).setXmitInterval(RESEND_MILLIS));
    stack.add(new UNICAST3().setXmitInterval(RESEND_MILLIS));
    stack.add(new STABLE().setDesiredAverageGossip(STABLE_MILLIS).setMaxBytes(STABLE_BYTES));
    stack.add(
        new OrderedViews().setJoinTimeout(seeds.isEmpty() ? NO_SEEDS_MILLIS : times.join()).setMaxJoinAttempts(0)
            .printLocalAddress(false)); // a member that others answer tries on, and begins no cluster of its own
    stack.add(new UFC().setMaxCredits(CREDITS));
    stack.add(new MFC().setMaxCredits(CREDITS));
    stack.add(new FRAG4().setFragSize(FRAGMENT));
    stack.forEach(each -> each.enableStats(false));
    try {
      return new JChannel(stack).name(node).stats(false);
    } catch (Exception e) {
      throw new IOException("members cannot be reached by " + host.bound(), e);
    }
  }

  private MemberTransport transport() {
    MemberTransport tcp = new MemberTransport(seal);
    tcp.setSockConnTimeout(CONNECT_MILLIS).tcpNodelay(true).setSendBufSize(SEND_BUFFER).setMaxLength(MOST_BYTES);
    tcp.setBindAddress(host.bound()).setExternalAddr(host.told()).setBindPort(port).setPortRange(0);
    tcp.setBundlerType("transfer-queue").useVirtualThreads(true).threadNamingPattern("pl");
    tcp.getThreadPool().setMaxThreads(MOST_THREADS).setKeepAliveTime(THREAD_IDLE_MILLIS).setThreadDumpsEnabled(false);
    tcp.disableDiagnostics();
    tcp.logAcceptError(false).logDetails(false); // a member that looks whether this one is there says nothing
    return tcp;
  }
}
