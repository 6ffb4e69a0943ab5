package io.penstock.examples.incidents.ours;

import io.penstock.disagg.Incarnation;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.RankOwner;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registrant;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.examples.incidents.script.Words;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// A heartbeat names the rank and its incarnation, and the answer says whether this registry knows them: a rank that is
/// not known registers again.
public final class UnknownRank extends RequestRig {
  private static final Registrant WORKER = new Registrant(
      RankOwner.ofSecret("the secret of worker 0".getBytes(StandardCharsets.US_ASCII)), "address", "connection");

  private @Nullable RankRegistry registry = registry();
  private boolean heard;
  private int stored;
  private int refused;
  private int registrations;

  private RankRegistry registry() {
    return new RankRegistry(RegistryOptions.defaults(), time::nanos, gone -> {});
  }

  @Override
  void take(RecordedEvent input) {
    RankRegistry running = registry;
    switch (input.kind()) {
      case LINK -> {
        switch ((int) input.number(1)) {
          case 0 -> registry = registry();
          case 1 -> registry = null; // with all that it knew
          default -> register(running);
        }
        heard = false;
      }
      case TIMER -> heartbeat(running);
      case COMMIT -> {
        boolean taken = running != null && knows(running);
        stored += taken ? 1 : 0;
        refused += taken ? 0 : 1;
        fact(taken ? Kind.STORED : Kind.FLOW_ERROR, input.flow(),
            taken ? "taken by the server" : "the rank is not known");
      }
      default -> throw new IllegalArgumentException("input must be one of a worker or its server (was " + input + ")");
    }
  }

  private void heartbeat(@Nullable RankRegistry running) {
    if (running == null) {
      return;
    }
    boolean known = running.heartbeat(WORKER.owner(), who());
    fact(Kind.ANSWER, 1, known ? "heartbeat: known" : "heartbeat: not known");
    if (!known) {
      register(running);
    }
    heard = true;
  }

  private void register(@Nullable RankRegistry running) {
    if (running != null) {
      running.register(WORKER, new Registration(Side.PREFILL, who(), 1,
          Manifest.of("model", Words.SPACE.layout(), Parallelism.ofTp(1)), new Endpoint("worker-0", 5555)));
      registrations++;
      fact(Kind.ANSWER, 1, "registered");
    }
  }

  private static Incarnation who() {
    return PREFILL;
  }

  private static boolean knows(RankRegistry running) {
    return running.instance(PREFILL.rank().instance()).isPresent();
  }

  @Override
  public @Nullable String violation() {
    RankRegistry running = registry;
    return running != null && heard && !knows(running)
        ? "the server answered a heartbeat of a worker that it does not know, and the worker does not learn it"
        : null;
  }

  @Override
  public boolean isGood() {
    return registrations == 2 && heard;
  }

  @Override
  public String ending() {
    return "%d of %d stores taken, %d registrations: the second at the first heartbeat after the restart".formatted(
        stored, stored + refused, registrations);
  }
}
