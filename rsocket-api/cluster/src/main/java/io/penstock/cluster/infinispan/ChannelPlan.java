package io.penstock.cluster.infinispan;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jgroups.JChannel;
import org.jgroups.protocols.FD_ALL3;
import org.jgroups.protocols.FD_SOCK2;
import org.jgroups.protocols.FRAG4;
import org.jgroups.protocols.MERGE3;
import org.jgroups.protocols.MFC;
import org.jgroups.protocols.TCP;
import org.jgroups.protocols.UFC;
import org.jgroups.protocols.UNICAST3;
import org.jgroups.protocols.VERIFY_SUSPECT2;
import org.jgroups.protocols.pbcast.GMS;
import org.jgroups.protocols.pbcast.NAKACK2;
import org.jgroups.protocols.pbcast.STABLE;
import org.jgroups.stack.Protocol;
import org.jspecify.annotations.Nullable;

/// How members talk to each other: JGroups over TCP alone, without multicast, diagnostics and JMX.
///
/// | A member | is missed after |
/// |---|---|
/// | that leaves | one message |
/// | whose process died | 1 s: its socket to [FD_SOCK2] closes, and it does not answer [VERIFY_SUSPECT2] |
/// | whose cable was pulled, or that hangs | 6 to 9 s, by the heartbeats of [FD_ALL3] |
///
/// @param host that is bound
/// @param port that is bound, and for [FD_SOCK2] the port 100 above, or one of the next three; 0 for free ones
/// @param seal null for messages that anyone can read and send
record ChannelPlan(BoundHost host, int port, List<Seed> seeds, SeedDiscovery.Names names, @Nullable Seal seal) {
  /// Distance from the port of the members' messages to that by which they see each other die.
  static final int LIVENESS_PORT_OFFSET = 100;
  private static final int CONNECT_MILLIS = 500;
  private static final int SEND_BUFFER = 640 << 10;
  private static final int MOST_BYTES = 8 << 20;
  private static final int MOST_THREADS = 64;
  private static final int THREAD_IDLE_MILLIS = 10_000;
  private static final int MERGE_MIN_MILLIS = 1000;
  private static final int MERGE_MAX_MILLIS = 4000;
  private static final int HEARTBEAT_MILLIS = 1500;
  private static final int SILENCE_MILLIS = 6000;
  private static final int VERIFY_MILLIS = 900;
  private static final int RESEND_MILLIS = 200;
  private static final int JOIN_MILLIS = 1500;
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
    stack.add(transport());
    if (seal != null) {
      stack.add(new SealedMessages(seal));
    }
    stack.add(new SeedDiscovery(seeds, names));
    stack.add(new MERGE3().setMinInterval(MERGE_MIN_MILLIS).setMaxInterval(MERGE_MAX_MILLIS));
    stack.add(
        new FD_SOCK2().setBindAddress(host.bound()).setExternalAddress(host.told()).setOffset(LIVENESS_PORT_OFFSET));
    stack.add(new FD_ALL3().setInterval(HEARTBEAT_MILLIS).setTimeout(SILENCE_MILLIS));
    stack.add(new VERIFY_SUSPECT2().setTimeout(VERIFY_MILLIS));
    stack.add(new NAKACK2().useMcastXmit(false).setXmitInterval(RESEND_MILLIS));
    stack.add(new UNICAST3().setXmitInterval(RESEND_MILLIS));
    stack.add(new STABLE().setDesiredAverageGossip(STABLE_MILLIS).setMaxBytes(STABLE_BYTES));
    stack.add(new GMS().setJoinTimeout(seeds.isEmpty() ? NO_SEEDS_MILLIS : JOIN_MILLIS).printLocalAddress(false));
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

  private TCP transport() {
    TCP tcp = new TCP();
    tcp.setSockConnTimeout(CONNECT_MILLIS).tcpNodelay(true).setSendBufSize(SEND_BUFFER).setMaxLength(MOST_BYTES);
    tcp.setBindAddress(host.bound()).setExternalAddr(host.told()).setBindPort(port).setPortRange(0);
    tcp.setBundlerType("transfer-queue").useVirtualThreads(true).threadNamingPattern("pl");
    tcp.getThreadPool().setMaxThreads(MOST_THREADS).setKeepAliveTime(THREAD_IDLE_MILLIS).setThreadDumpsEnabled(false);
    tcp.disableDiagnostics();
    return tcp;
  }
}
