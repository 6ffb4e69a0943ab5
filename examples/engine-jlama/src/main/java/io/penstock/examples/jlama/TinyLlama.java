package io.penstock.examples.jlama;

import io.penstock.node.text.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/// A random Llama in Hugging Face form: `config.json`, `tokenizer.json` with a token for each byte, and
/// `model.safetensors`. Equal settings give equal bytes. Such a model speaks nonsense, but each of its answers depends
/// on every row of its KV cache.
///
/// @param layers transformer layers
/// @param hidden width of the model; a multiple of `heads`
/// @param heads query heads; a multiple of `kvHeads`
/// @param kvHeads key and value heads
/// @param context most tokens of a session. Jlama makes pages of one token if a page of 1 MiB holds more
/// @param seed of the weights
record TinyLlama(int layers, int hidden, int heads, int kvHeads, int context, long seed) {
  private static final String MARK = "▁";
  private static final String LETTERS = MARK + "abcdefghijklmnopqrstuvwxyz0123456789.,?";
  private static final List<String> SPECIAL = List.of("<unk>", "<s>", "</s>");
  private static final int HEADER_ALIGNMENT = 8;
  /// Queries and keys are larger than other weights, so that attention is not uniform.
  private static final double SHARPNESS = 1.5;

  TinyLlama {
    requireMultiple("hidden", hidden, "heads", heads);
    requireMultiple("heads", heads, "kvHeads", kvHeads);
  }

  private static void requireMultiple(String name, int value, String ofName, int of) {
    if (of <= 0 || value <= 0 || value % of != 0) {
      throw new IllegalArgumentException(name + " must be a multiple of " + ofName + ", both > 0 (was " + value + ", "
          + of + ")");
    }
  }

  /// 2 layers of 96, 3 KV heads of 16: 768 bytes for each token, and pages of 1,365 tokens.
  static TinyLlama nano(long seed) {
    return new TinyLlama(2, 96, 6, 3, 8192, seed);
  }

  /// 6 layers of 288, 3 KV heads of 32: 4.5 KiB for each token, and pages of 273 tokens of 5 layers.
  static TinyLlama small(long seed) {
    return new TinyLlama(6, 288, 9, 3, 8192, seed);
  }

  /// Writes the three files.
  ///
  /// @param folder created if it is missing
  void write(Path folder) throws IOException {
    Files.createDirectories(folder);
    Map<String, Integer> vocabulary = vocabulary();
    Files.writeString(folder.resolve("config.json"), Json.of(config(vocabulary.size())));
    Files.writeString(folder.resolve("tokenizer.json"), Json.of(tokenizer(vocabulary)));
    writeWeights(folder.resolve("model.safetensors"), shapes(vocabulary.size()));
  }

  private static Map<String, Integer> vocabulary() {
    Map<String, Integer> vocabulary = new LinkedHashMap<>();
    SPECIAL.forEach(token -> vocabulary.put(token, vocabulary.size()));
    for (int value = 0; value <= 0xFF; value++) {
      vocabulary.put("<0x%02X>".formatted(value), vocabulary.size());
    }
    LETTERS.codePoints().forEach(letter -> vocabulary.put(Character.toString(letter), vocabulary.size()));
    return vocabulary;
  }

  private Map<String, Object> config(int words) {
    Map<String, Object> config = new LinkedHashMap<>();
    config.put("architectures", List.of("LlamaForCausalLM"));
    config.put("model_type", "llama");
    config.put("max_position_embeddings", context);
    config.put("hidden_size", hidden);
    config.put("intermediate_size", 2 * hidden);
    config.put("num_attention_heads", heads);
    config.put("num_key_value_heads", kvHeads);
    config.put("num_hidden_layers", layers);
    config.put("rms_norm_eps", 1e-5);
    config.put("vocab_size", words);
    config.put("bos_token_id", SPECIAL.indexOf("<s>"));
    config.put("eos_token_id", SPECIAL.indexOf("</s>"));
    config.put("hidden_act", "silu");
    config.put("rope_theta", 10_000.0);
    config.put("torch_dtype", "float32");
    return config;
  }

  private static Map<String, Object> tokenizer(Map<String, Integer> vocabulary) {
    return Map.of("version", "1.0",
        "added_tokens", SPECIAL.stream()
            .map(token -> Map.of("id", SPECIAL.indexOf(token), "content", token, "special", true)).toList(),
        "normalizer", Map.of("type", "Sequence", "normalizers",
            List.of(Map.of("type", "Replace", "pattern", Map.of("String", " "), "content", MARK))),
        "model", Map.of("type", "BPE", "unk_token", "<unk>", "fuse_unk", true, "byte_fallback", true, "vocab",
            vocabulary, "merges", List.of()));
  }

  private Map<String, int[]> shapes(int words) {
    int keys = hidden / heads * kvHeads;
    Map<String, int[]> shapes = new LinkedHashMap<>();
    shapes.put("model.embed_tokens.weight", new int[] {words, hidden});
    shapes.put("model.norm.weight", new int[] {hidden});
    shapes.put("lm_head.weight", new int[] {words, hidden});
    for (int layer = 0; layer < layers; layer++) {
      String name = "model.layers." + layer + ".";
      shapes.put(name + "self_attn.q_proj.weight", new int[] {hidden, hidden});
      shapes.put(name + "self_attn.k_proj.weight", new int[] {keys, hidden});
      shapes.put(name + "self_attn.v_proj.weight", new int[] {keys, hidden});
      shapes.put(name + "self_attn.o_proj.weight", new int[] {hidden, hidden});
      shapes.put(name + "mlp.gate_proj.weight", new int[] {2 * hidden, hidden});
      shapes.put(name + "mlp.up_proj.weight", new int[] {2 * hidden, hidden});
      shapes.put(name + "mlp.down_proj.weight", new int[] {hidden, 2 * hidden});
      shapes.put(name + "input_layernorm.weight", new int[] {hidden});
      shapes.put(name + "post_attention_layernorm.weight", new int[] {hidden});
    }
    return shapes;
  }

  private void writeWeights(Path file, Map<String, int[]> shapes) throws IOException {
    Map<String, Object> header = new LinkedHashMap<>();
    long at = 0;
    for (Map.Entry<String, int[]> tensor : shapes.entrySet()) {
      long end = at + (long) Float.BYTES * elements(tensor.getValue());
      header.put(tensor.getKey(),
          Map.of("dtype", "F32", "shape", tensor.getValue(), "data_offsets", new long[] {at, end}));
      at = end;
    }
    byte[] text = Json.of(header).getBytes(StandardCharsets.UTF_8);
    int padded = Math.ceilDiv(text.length, HEADER_ALIGNMENT) * HEADER_ALIGNMENT;
    SplittableRandom random = new SplittableRandom(seed);
    try (OutputStream out = Files.newOutputStream(file)) {
      out.write(buffer(Long.BYTES).putLong(padded).array());
      out.write(text);
      out.write(" ".repeat(padded - text.length).getBytes(StandardCharsets.US_ASCII));
      for (Map.Entry<String, int[]> tensor : shapes.entrySet()) {
        out.write(weights(tensor.getKey(), tensor.getValue(), random));
      }
    }
  }

  private static byte[] weights(String name, int[] shape, SplittableRandom random) {
    boolean norm = shape.length == 1;
    double sharpness = name.contains("q_proj") || name.contains("k_proj") ? SHARPNESS : 1;
    double width = norm ? 0.1 : name.contains("embed") ? 1 : sharpness * Math.sqrt(3.0 / shape[1]);
    ByteBuffer bytes = buffer(Float.BYTES * elements(shape));
    while (bytes.hasRemaining()) {
      bytes.putFloat((float) ((norm ? 1 : 0) + random.nextDouble(-width, width)));
    }
    return bytes.array();
  }

  private static int elements(int[] shape) {
    return shape.length == 1 ? shape[0] : shape[0] * shape[1];
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
