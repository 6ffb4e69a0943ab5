package io.penstock.examples.jlama;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.shape.LayoutSettings;
import java.nio.file.Path;
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
      console.print(String.join(" ", LayoutSettings.flags(engine.space())));
    }
    return ExitCode.OK;
  }
}
