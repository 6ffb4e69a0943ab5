package io.penstock.lab.attack;

import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Routes;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import tools.jackson.databind.JsonNode;

/// Peers at a network port that offer shared memory of processes which are not theirs, and compare the refusals. A node
/// that words them apart tells which processes and descriptors its host has.
final class HelloProbes implements Attack {
  private static final int CONNECTIONS = 8;
  private static final int LIFE_TICKS = 5;
  private static final int MOST_PROCESS = 1 << 16;
  private static final int MOST_DESCRIPTOR = 64;
  private static final int PROOF_BYTES = 16;

  private final Attackers attackers;
  private final RandomGenerator random;
  private final Crowd crowd;
  private final Set<String> refusals = new HashSet<>();
  private int ticks;

  HelloProbes(Attackers attackers, RandomGenerator random) {
    this.attackers = attackers;
    this.random = random;
    this.crowd = new Crowd(attackers, CONNECTIONS, () -> {
      Peer peer = new Peer(this::probe);
      peer.whenAnswered(welcome -> compare(peer, welcome));
      return peer;
    });
  }

  @Override
  public void tick() {
    if (++ticks % LIFE_TICKS == 0) {
      crowd.disperse();
    }
    crowd.gathered();
  }

  private void probe(Peer peer) {
    peer.send(Frames.setup(Frames.KEEP_ALIVE, Frames.LIFETIME));
    long process = switch (random.nextInt(3)) {
      case 0 -> 1;
      case 1 -> ProcessHandle.current().pid();
      default -> random.nextInt(1, MOST_PROCESS);
    };
    Map<String, Object> offer = Map.of("name", Carrier.SHARED_MEMORY.label(), "process", process, "descriptor",
        random.nextInt(MOST_DESCRIPTOR), "proof", new byte[PROOF_BYTES]);
    peer.send(Frames.ask(1, Routes.HELLO,
        Map.of("versions", List.of(Routes.VERSION), "client", "penstock-attack", "carriers", List.of(offer))));
  }

  private void compare(Peer peer, JsonNode welcome) {
    String refusal = welcome.path("carriers").path(0).path("refusal").asString("");
    if (peer.isOfThisHost() || refusal.isEmpty()) {
      return;
    }
    if (refusal.contains("java.") || refusal.contains("io.penstock.") || refusal.contains("Exception")) {
      attackers.breach("a name of a class in the refusal of shared memory");
    }
    refusals.add(refusal);
    if (refusals.size() > 1) {
      attackers.breach("refusals of shared memory that tell processes apart");
    }
  }
}
