package io.penstock.node;

import io.penstock.block.BlockLayout;
import io.penstock.node.cli.Console;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.KvShape;
import io.penstock.node.shape.ModelPreset;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock models`: the models whose layout `--model` knows.
@Command(
    name = "models",
    description = {"Lists the models whose layout --model knows.", "",
      "KV HEADS is heads x dimension, or latent + rotary part (MLA); BLOCK the size of " + BlockShape.DEFAULT_TOKENS
          + " tokens in bf16. Any other model is stated by"
          + " --layers, --kv-heads and --head-dim, or by --latent-rank and --rope-dim.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock models", "  penstock serve --model llama-3.1-8b --dram 8GiB", ""})
final class ModelsCommand implements Runnable {
  /// A model in JSON.
  ///
  /// @param blockBytes of a block of `blockTokens` tokens
  record Row(String model, int layers, String layer, int blockTokens, int blockBytes, String source) {
    static Row of(ModelPreset preset) {
      BlockLayout layout = preset.layout();
      return new Row(preset.name(), preset.layers(), words(preset.shape()), layout.tokens(), layout.blockBytes(),
          preset.source());
    }

    private static String words(KvShape shape) {
      return switch (shape) {
        case KvShape.Heads heads -> heads.kvHeads() + " x " + heads.headDim();
        case KvShape.Latent latent -> "%d + %d (MLA)".formatted(latent.rank(), latent.ropeDim());
      };
    }
  }

  private final Console console;

  @Option(names = "--json", description = "Print the models as JSON.")
  private boolean json;

  ModelsCommand(Console console) {
    this.console = console;
  }

  @Override
  public void run() {
    if (json) {
      console.json(ModelPreset.ALL.stream().map(Row::of).toList());
      return;
    }
    TextTable table = new TextTable("MODEL", "LAYERS", "KV HEADS", "BLOCK", "CONFIG.JSON OF");
    ModelPreset.ALL.stream().map(Row::of).forEach(
        row -> table.row(row.model(), row.layers(), row.layer(), Sizes.exact(row.blockBytes()), row.source()));
    console.out().print(table);
    console.requireHeard();
  }
}
