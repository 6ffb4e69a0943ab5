package io.penstock.examples.jlama;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `jlama model`.
@Command(name = "model", mixinStandardHelpOptions = true,
    description = {"Writes a tiny random Llama in Hugging Face form. It speaks nonsense.", ""})
final class ModelCommand implements Callable<Integer> {
  private final Console console;

  @Parameters(paramLabel = "FOLDER", description = "Where; its last name is the name of the model.")
  private Path folder = Path.of("");

  @Option(names = "--layers", paramLabel = "N", defaultValue = "6",
      description = "Transformer layers (default: ${DEFAULT-VALUE}).")
  private int layers;

  @Option(names = "--hidden", paramLabel = "N", defaultValue = "288",
      description = "Width, a multiple of the heads (default: ${DEFAULT-VALUE}).")
  private int hidden;

  @Option(names = "--heads", paramLabel = "N", defaultValue = "9",
      description = "Query heads, a multiple of the KV heads (default: ${DEFAULT-VALUE}).")
  private int heads;

  @Option(names = "--kv-heads", paramLabel = "N", defaultValue = "3",
      description = "Key and value heads (default: ${DEFAULT-VALUE}).")
  private int kvHeads;

  @Option(names = "--context", paramLabel = "TOKENS", defaultValue = "8192",
      description = "Most tokens of a conversation (default: ${DEFAULT-VALUE}).")
  private int context;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "42",
      description = "Seed of the weights (default: ${DEFAULT-VALUE}).")
  private long seed;

  ModelCommand(Console console) {
    this.console = console;
  }

  @Override
  public Integer call() throws IOException {
    new TinyLlama(layers, hidden, heads, kvHeads, context, seed).write(folder);
    console.say("model: written to " + folder);
    return ExitCode.OK;
  }
}
