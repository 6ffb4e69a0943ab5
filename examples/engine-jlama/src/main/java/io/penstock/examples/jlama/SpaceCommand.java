package io.penstock.examples.jlama;

import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/// `jlama space`.
@Command(name = "space", mixinStandardHelpOptions = true,
    description = {"Prints the flags with which penstock serve keeps the blocks of a model.", ""})
final class SpaceCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "MODEL", description = "Folder of a model in Hugging Face form.")
  private Path model = Path.of("");

  SpaceCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() {
    try (JlamaEngine engine = JlamaEngine.load(model)) {
      CacheSpace space = engine.space();
      BlockLayout layout = space.layout();
      Plane keys = layout.planes().getFirst();
      console.print(String.join(" ", "--model", space.model(), "--layers", "" + layout.layers(), "--block-tokens",
          "" + layout.tokens(), "--kv-heads", "" + keys.heads(), "--head-dim", "" + keys.width(), "--dtype",
          keys.type().name().toLowerCase(Locale.ROOT), "--fingerprint", space.fingerprint()));
    }
    return ExitCode.OK;
  }
}
