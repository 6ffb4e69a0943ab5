package io.penstock.examples.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/// What is done to a cluster while it serves a load: each instance in turn is drained, removed and added again; then a
/// decode and a prefill are killed while requests run there, and started again.
final class Disruptions {
  private static final String RESUMED = "penstock_gateway_resumed_total";
  private static final String REPEATED = "penstock_gateway_repeated_total";
  /// Requests that run at an engine when it is killed, at least.
  private static final int RUNNING = 2;

  private final Cluster cluster;
  private final Consumer<String> said;
  private final List<String> done = new ArrayList<>();

  /// What was done, and what became of the requests.
  ///
  /// @param steps in their order
  /// @param resumed answers that went on at another instance after their first byte
  /// @param repeated attempts after the first one, before the first byte
  record Report(List<String> steps, long resumed, long repeated) {
    Report {
      steps = List.copyOf(steps);
    }
  }

  /// @param said receives each step when it is done
  Disruptions(Cluster cluster, Consumer<String> said) {
    this.cluster = cluster;
    this.said = said;
  }

  /// Does all of it while `load` runs.
  ///
  /// @throws IOException if a step failed
  <T> T during(Load<T> load) throws IOException, InterruptedException {
    CountDownLatch begun = new CountDownLatch(1);
    FutureTask<Void> steps = new FutureTask<>(() -> {
      begun.await();
      run();
      return null;
    });
    Thread.ofPlatform().name("disruptions").start(steps);
    T result;
    try {
      result = load.run(begun::countDown, () -> !steps.isDone());
    } catch (IOException | InterruptedException | RuntimeException e) {
      steps.cancel(true);
      throw e;
    }
    try {
      steps.get();
      return result;
    } catch (ExecutionException e) {
      throw new IOException("a disruption failed after: " + done() + ": " + e.getCause(), e);
    }
  }

  /// What runs during disruptions.
  interface Load<T> {
    /// @param begun is to be run when the load is under way
    /// @param goesOn whether the load must go on
    T run(Runnable begun, BooleanSupplier goesOn) throws IOException, InterruptedException;
  }

  private void run() throws IOException, InterruptedException {
    for (EngineProcess engine : cluster.engines()) {
      String name = engine.address();
      cluster.admin().awaitRequests(name, 1);
      cluster.admin().drain(name);
      cluster.admin().remove(name);
      cluster.admin().add(engine.role(), name);
      done("drained, removed and added again: " + engine);
    }
    kill(cluster.decodes().getFirst());
    kill(cluster.prefills().getFirst());
  }

  private void kill(EngineProcess engine) throws IOException, InterruptedException {
    cluster.admin().awaitRequests(engine.address(), RUNNING);
    engine.kill();
    engine.restart();
    cluster.admin().awaitUp(engine.address());
    cluster.admin().awaitRequests(engine.address(), 1);
    done("killed and started again: " + engine);
  }

  private void done(String step) {
    synchronized (done) {
      done.add(step);
    }
    said.accept(step);
  }

  private List<String> done() {
    synchronized (done) {
      return List.copyOf(done);
    }
  }

  Report report() throws IOException, InterruptedException {
    return new Report(done(), cluster.admin().counter(RESUMED), cluster.admin().counter(REPEATED));
  }
}
