package io.penstock.lab.attack;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/// The connections of one attack, kept at a number: those that the node ended are replaced, a few at a time.
final class Crowd {
  /// Maximum number of connections that are opened in a tick.
  private static final int MOST_AT_A_TIME = 128;

  private final Attackers attackers;
  private final int size;
  private final Supplier<Peer> newcomer;
  private final Map<Peer, Channel> members = new LinkedHashMap<>();

  Crowd(Attackers attackers, int size, Supplier<Peer> newcomer) {
    this.attackers = attackers;
    this.size = size;
    this.newcomer = newcomer;
  }

  /// Brings the crowd back to its size and answers its members.
  List<Peer> gathered() {
    members.values().removeIf(channel -> !channel.isOpen());
    for (int i = Math.min(MOST_AT_A_TIME, size - members.size()); i > 0; i--) {
      Peer peer = newcomer.get();
      members.put(peer, attackers.connect(peer));
    }
    return List.copyOf(members.keySet());
  }

  void disperse() {
    for (Channel member : members.values()) {
      ChannelFuture unused = member.close();
    }
    members.clear();
  }
}
