package io.penstock.lab.attack;

import java.util.List;
import java.util.function.Consumer;

/// Connections that say nothing, too little, or that they will say nothing for a long time.
final class IdleConnections implements Attack {
  private static final int CONNECTIONS = 1024;
  private static final int HALF_A_SETUP = 20;

  private static final List<Consumer<Peer>> GREETINGS = List.of(
      peer -> {},
      peer -> peer.raw(Frames.framed(Frames.setup(Frames.KEEP_ALIVE, Frames.LIFETIME)).readRetainedSlice(HALF_A_SETUP)),
      peer -> peer.send(Frames.setup(Frames.KEEP_ALIVE, Integer.MAX_VALUE)),
      peer -> peer.send(Frames.setup(-1, -1)));

  private final Crowd crowd;
  private int next;

  IdleConnections(Attackers attackers) {
    crowd = new Crowd(attackers, CONNECTIONS, () -> new Peer(GREETINGS.get(next++ % GREETINGS.size())));
  }

  @Override
  public void tick() {
    crowd.gathered();
  }
}
