package io.penstock.node.option;

import io.penstock.node.setting.Topic;
import io.penstock.node.shape.LayoutSettings;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The page of help about the layout of a model, of which the help of a client's command shows the name of the model
/// alone.
public final class LayoutPage {
  /// Name of this page for `penstock help`.
  public static final String NAME = "layout";

  /// Settings that node and client must both state.
  public static final Topic TOPIC = new Topic("Model and blocks", LayoutSettings.ALL);

  private LayoutPage() {}

  /// The page as a command line of which only the help is shown.
  public static CommandLine line() {
    CommandSpec spec = CommandSpec.create().name("penstock COMMAND");
    SettingOptions.addTo(spec, TOPIC);
    spec.usageMessage().sortOptions(false).customSynopsis("penstock COMMAND --model=TEXT [OPTIONS]")
        .footerHeading("%nExamples:%n").footer("  penstock match --model llama-3.1-8b --trace-id 0-9",
            "  penstock get --layers 8 --kv-heads 2 --head-dim 64 --trace-id 0 --discard", "");
    return new CommandLine(spec);
  }
}
