package io.penstock.examples.disaggregated;

import io.penstock.node.cli.Reason;
import io.penstock.node.config.Sizes;

/// The report as text.
final class DisaggregatedTable {
  private DisaggregatedTable() {}

  static String of(DisaggregatedReport report) {
    StringBuilder text = new StringBuilder("disaggregated: %s%n  prefill %s%n  decode  %s%n".formatted(report.mode(),
        report.prefill(), report.decode()));
    for (RequestReport request : report.requests()) {
      text.append("%n%s: prefill %d, decode %d, %d tokens cached, %s moved%n".formatted(request.request(),
          request.prefill(), request.decode(), request.cachedTokens(), Sizes.human(request.movedBytes())));
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
    return text.toString();
  }
}
