package io.penstock.examples.disaggregated;

import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.ModelConfig;
import io.penstock.examples.disaggregated.node.Nodes;
import io.penstock.examples.disaggregated.node.Peer;
import io.penstock.examples.disaggregated.node.Setup;
import io.penstock.examples.disaggregated.rank.SideReport;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/// Starts the nodes, and gives them the requests: as many at a time as there are prefill nodes.
///
/// @param setup that all nodes share
/// @param prefills number of prefill nodes
/// @param decodes number of decode nodes
/// @param requests number of requests
/// @param turns of each request, which then is a conversation
/// @param prompt that they begin with
record DisaggregatedRun(Setup setup, int prefills, int decodes, int requests, int turns, String prompt) {
  /// The prompt of one request: its number follows, unless it is the first.
  static String prompt(String text, int number) {
    return number == 0 ? text : text + " " + number;
  }

  /// What is said after each answer.
  static int[] more() {
    int[] tokens = ByteTokenizer.encode(" And then?");
    return Arrays.copyOfRange(tokens, 1, tokens.length);
  }

  /// @param nodes closed here
  /// @param done receives the number of requests that are done, on this thread
  DisaggregatedReport run(Nodes nodes, IntConsumer done) throws IOException {
    try (nodes) {
      List<Peer> prefillNodes = start(prefills, nodes::prefill);
      List<Peer> decodeNodes = start(decodes, nodes::decode);
      try (Router router = new Router(setup, prefillNodes, decodeNodes)) {
        DisaggregatedReport.Weights weights =
            router.warmUp(requests, ByteTokenizer.encode(prompt(prompt, requests - 1)));
        ModelConfig model = setup.prefill().model().config();
        return new DisaggregatedReport(setup.push() ? "push" : "pull", SideReport.of(setup.prefill()),
            SideReport.of(setup.decode()), model.layers(), model.draftLayers(), weights, all(router, done));
      }
    }
  }

  private interface Starting {
    Peer start(int number) throws IOException;
  }

  private static List<Peer> start(int count, Starting starting) throws IOException {
    List<Peer> started = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      started.add(starting.start(i));
    }
    return started;
  }

  private List<RequestReport> all(Router router, IntConsumer done) throws IOException {
    try (ExecutorService workers = Executors.newFixedThreadPool(prefills)) {
      List<Future<List<RequestReport>>> reports = IntStream.range(0, requests)
          .mapToObj(number -> workers
              .submit(() -> router.run(number, ByteTokenizer.encode(prompt(prompt, number)), turns, more())))
          .toList();
      List<RequestReport> all = new ArrayList<>();
      for (int number = 0; number < requests; number++) {
        all.addAll(reports.get(number).get());
        done.accept(number + 1);
      }
      return all;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("requests must not be interrupted", e);
    } catch (ExecutionException e) {
      throw new IOException("a request must end (was " + e.getCause() + ")", e);
    }
  }
}
