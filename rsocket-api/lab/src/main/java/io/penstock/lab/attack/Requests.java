package io.penstock.lab.attack;

import java.time.Duration;

/// Some connections, each with some requests that the node works on. Those that ended are made again, one a tick; all
/// are given up and made again from time to time.
final class Requests implements Attack {
  /// How many, and how often.
  ///
  /// @param connections that set up as they should
  /// @param streams requests of each at a time
  /// @param renewal after which they are given up
  /// @param deaf whether they take nothing from their sockets once they asked
  record Plan(int connections, int streams, Duration renewal, boolean deaf) {
    Plan(int connections, int streams, Duration renewal) {
      this(connections, streams, renewal, false);
    }
  }

  /// Has a peer send one request.
  @FunctionalInterface
  interface Asking {
    void ask(Peer peer, Peer.Limits limits);
  }

  /// Between two frames of a request that goes on slowly: quicker than a node counts as silence.
  private static final int PACE_TICKS = Attack.ticks(Duration.ofSeconds(2));

  private final Plan plan;
  private final Asking asking;
  private final Crowd crowd;
  private int ticks;

  /// Requests that need nothing but to be sent.
  static Requests of(Attackers attackers, Plan plan, Peer.Request request) {
    return new Requests(attackers, plan, (peer, limits) -> peer.ask(request, limits));
  }

  Requests(Attackers attackers, Plan plan, Asking asking) {
    this.plan = plan;
    this.asking = asking;
    this.crowd = new Crowd(attackers, plan.connections(), Peer::polite);
  }

  @Override
  public void tick() {
    boolean renews = ++ticks % Attack.ticks(plan.renewal()) == 0;
    for (Peer peer : crowd.gathered()) {
      Peer.Limits limits = peer.limits();
      if (limits != null) {
        ask(peer, limits, renews);
        if (ticks % PACE_TICKS == 0) {
          peer.goOn();
        }
      }
    }
  }

  private void ask(Peer peer, Peer.Limits limits, boolean renews) {
    if (renews) {
      peer.cancel();
    }
    int more = renews || !peer.hasAsked() ? plan.streams() : 1;
    for (; more > 0 && peer.streams() < plan.streams() && peer.isWritable(); more--) {
      asking.ask(peer, limits);
    }
    if (plan.deaf()) {
      peer.deafen();
    }
  }
}
