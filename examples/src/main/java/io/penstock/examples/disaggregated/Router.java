package io.penstock.examples.disaggregated;

import static java.util.Objects.requireNonNull;

import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.node.Ask;
import io.penstock.examples.disaggregated.node.Ask.Kind;
import io.penstock.examples.disaggregated.node.Bits;
import io.penstock.examples.disaggregated.node.EarlierTurn;
import io.penstock.examples.disaggregated.node.LayerTime;
import io.penstock.examples.disaggregated.node.LayerTime.What;
import io.penstock.examples.disaggregated.node.Nodes;
import io.penstock.examples.disaggregated.node.Peer;
import io.penstock.examples.disaggregated.node.Reply;
import io.penstock.examples.disaggregated.node.Setup;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Deployment;
import io.penstock.examples.disaggregated.rank.Generated;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.KvFormat;
import io.penstock.examples.disaggregated.rank.Prefill;
import io.penstock.examples.disaggregated.rank.Sequence;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Gives each request to a prefill and to a decode node, by turns, and compares the result with that of one rank that
/// does both.
final class Router implements AutoCloseable {
  private final Setup setup;
  private final List<Peer> prefills;
  private final List<Peer> decodes;
  private final Instance whole;

  Router(Setup setup, List<? extends Peer> prefills, List<? extends Peer> decodes) {
    this.setup = setup;
    this.prefills = List.copyOf(prefills);
    this.decodes = List.copyOf(decodes);
    this.whole = new Instance(Deployment.monolithic(setup.prefill().model(),
        KvFormat.defaults().withType(setup.prefill().format().type())), prefills.size(), setup.sequenceTokens());
  }

  /// Makes every pair of nodes that will meet serve a request, so that connections are open and code is compiled. Its
  /// prompt is the prompt backwards, so its blocks are of no use to the others.
  ///
  /// @return the weights of the ranks that served
  DisaggregatedReport.Weights warmUp(int requests, int[] prompt) {
    int[] backwards = new int[prompt.length];
    for (int i = 0; i < prompt.length; i++) {
      backwards[i] = prompt[prompt.length - 1 - i];
    }
    Served served = serve("warm-up 0", 0, 0, backwards, null, false);
    for (int number = 1; number < Math.min(requests, prefills.size() * decodes.size()); number++) {
      serve("warm-up " + number, number % prefills.size(), number % decodes.size(), backwards, null, false);
    }
    return new DisaggregatedReport.Weights(whole.weightBytes().getFirst(), served.prefill().rankBytes(),
        served.decode().rankBytes());
  }

  /// Answers of both nodes.
  private record Served(Reply prefill, Reply decode) {}

  private Served serve(String request, int prefill, int decode, int[] prompt, @Nullable EarlierTurn earlier,
      boolean goesOn) {
    List<Integer> tokens = IntStream.of(prompt).boxed().toList();
    String name = Nodes.prefillName(prefill);
    decodes.get(decode).ask(new Ask(Kind.RECEIVE, request, tokens, name));
    Reply computed =
        prefills.get(prefill).ask(new Ask(Kind.PREFILL, request, tokens, name, earlier, false));
    Reply generated = decodes.get(decode).ask(new Ask(Kind.DECODE, request, tokens, name, null, goesOn));
    return new Served(computed, generated);
  }

  /// The turns of conversation `number`, each at another prefill if there are several; waits until they are done. The
  /// prompt of a turn is all that was said before, and `more`.
  List<RequestReport> run(int number, int[] prompt, int turns, int[] more) {
    List<RequestReport> reports = new ArrayList<>();
    int decode = number % decodes.size();
    int[] all = prompt;
    EarlierTurn earlier = null;
    for (int turn = 0; turn < turns; turn++) {
      String request = "request " + number + (turn == 0 ? "" : " turn " + (turn + 1));
      Served served =
          serve(request, (number + turn) % prefills.size(), decode, all, earlier, turn + 1 < turns);
      Reply.Outcome outcome = requireNonNull(served.decode().outcome(), "outcome");
      reports.add(report(request, (number + turn) % prefills.size(), decode, all, served));
      IntStream said = outcome.tokens().stream().mapToInt(Integer::intValue)
          .filter(token -> token != ByteTokenizer.END);
      all = IntStream.concat(IntStream.of(all), IntStream.concat(said, IntStream.of(more))).toArray();
      earlier = new EarlierTurn(Nodes.decodeName(decode), request, outcome.keptTokens());
    }
    return reports;
  }

  private RequestReport report(String request, int prefill, int decode, int[] prompt, Served served) {
    Reply.Outcome outcome = requireNonNull(served.decode().outcome(), "outcome");
    Generated parts = new Generated();
    for (int i = 0; i < outcome.tokens().size(); i++) {
      parts.add(outcome.tokens().get(i), Bits.floats(outcome.logits().get(i)));
    }
    Generated one = monolithic(request, prompt);
    return new RequestReport(request, prefill, decode, ByteTokenizer.decode(one.tokens()),
        ByteTokenizer.decode(parts.tokens()), parts.equalsBitwise(one), parts.firstDifference(one),
        outcome.steps(), outcome.guessed(), outcome.accepted(), outcome.cachedTokens(),
        outcome.tokenBytes(), outcome.movedBytes(), served.prefill().prefix(),
        times(served.prefill().times(), served.decode().times()));
  }

  private Generated monolithic(String request, int[] prompt) {
    try (Sequence sequence = whole.open("monolithic " + request)) {
      SpeculativeConfig drafts =
          new SpeculativeConfig(sequence.model().config().draftLayers(), setup.tokens().guessed());
      return Decode.of(sequence, drafts, prompt.length, Prefill.of(sequence, prompt), setup.tokens().generated());
    }
  }

  /// Between the computation of a layer and its first byte, the decode waits.
  private static List<LayerTime> times(List<LayerTime> computed, List<LayerTime> transfers) {
    List<LayerTime> all = new ArrayList<>(computed);
    for (LayerTime transfer : transfers) {
      long ready = computed.stream().filter(time -> time.layer() == transfer.layer())
          .mapToLong(LayerTime::endMicros).filter(end -> end <= transfer.startMicros()).max()
          .orElse(transfer.startMicros());
      all.add(new LayerTime(What.WAIT, transfer.layer(), ready, transfer.startMicros()));
      all.add(transfer);
    }
    long first = all.stream().mapToLong(LayerTime::startMicros).min().orElse(0);
    return all.stream().map(time -> time.since(first))
        .sorted(Comparator.comparingInt(LayerTime::layer).thenComparing(LayerTime::what)
            .thenComparingLong(LayerTime::startMicros))
        .toList();
  }

  @Override
  public void close() {
    whole.close();
  }
}
