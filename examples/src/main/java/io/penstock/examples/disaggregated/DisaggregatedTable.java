package io.penstock.examples.disaggregated;

import io.penstock.node.text.Plural;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import java.util.List;

/// The report as text.
final class DisaggregatedTable {
  /// More requests than these are summed up; of those, only requests whose logits differ are shown.
  private static final int MOST_SHOWN = 20;

  private DisaggregatedTable() {}

  static String of(DisaggregatedReport report) {
    StringBuilder text = new StringBuilder("disaggregated: %s%n  prefill %s%n  decode  %s%n  weights %s%n".formatted(
        report.mode(), report.prefill(), report.decode(), weights(report.weights())));
    List<RequestReport> shown = report.requests().size() <= MOST_SHOWN
        ? report.requests()
        : report.requests().stream().filter(request -> !request.bitsEqual()).limit(MOST_SHOWN).toList();
    for (RequestReport request : shown) {
      text.append("%n%s: prefill %d, decode %d, %d tokens cached, %s%s%n".formatted(request.request(),
          request.prefill(), request.decode(), request.cachedTokens(),
          request.pulledTokens() == 0
              ? ""
              : "%d of the answer before pulled by the prefill, ".formatted(request.pulledTokens()),
          moved(request.movedBytes(), request.tokenBytes())));
      text.append("  monolithic    %s%n".formatted(Reason.printable(request.monolithic())));
      text.append("  disaggregated %s%n".formatted(Reason.printable(request.disaggregated())));
      if (request.guessed() > 0) {
        text.append("  draft head    %d of %d guesses accepted, %d steps%n".formatted(request.accepted(),
            request.guessed(), request.steps()));
      }
      text.append(new TimeLine(request.times(), report.layers()).text().indent(2));
      text.append(request.bitsEqual()
          ? "  logits        equal, bit for bit%n".formatted()
          : "  logits        differ, or are no numbers, from token %d on%n".formatted(request.firstDifference()));
    }
    return text + (report.requests().size() <= MOST_SHOWN ? "" : summary(report.requests()));
  }

  private static String weights(DisaggregatedReport.Weights weights) {
    return "%s of the model; each rank loads its part: %s of prefill, %s of decode".formatted(
        Sizes.human(weights.modelBytes()), ranks(weights.prefillRanks()), ranks(weights.decodeRanks()));
  }

  private static String ranks(List<Long> bytes) {
    long most = bytes.stream().mapToLong(Long::longValue).max().orElse(0);
    return "%s with %s%s".formatted(Plural.of(bytes.size(), "rank"), bytes.size() > 1 ? "at most " : "",
        Sizes.human(most));
  }

  /// Both figures: a plan counts tokens, and a rank sends whole blocks.
  private static String moved(long movedBytes, long tokenBytes) {
    return "%s moved in blocks, %s of them tokens".formatted(Sizes.human(movedBytes), Sizes.human(tokenBytes));
  }

  private static String summary(List<RequestReport> requests) {
    long differ = requests.stream().filter(request -> !request.bitsEqual()).count();
    return "%n%d requests, %d tokens cached, %s; --json has each of them%n%s  logits        %s%n".formatted(
        requests.size(), requests.stream().mapToLong(RequestReport::cachedTokens).sum(),
        moved(requests.stream().mapToLong(RequestReport::movedBytes).sum(),
            requests.stream().mapToLong(RequestReport::tokenBytes).sum()),
        LayerTimes.text(requests),
        differ == 0
            ? "equal, bit for bit, of all requests"
            : "differ, or are no numbers, of " + Plural.of(differ, "request"));
  }
}
