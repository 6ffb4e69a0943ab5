package io.penstock.examples.disaggregated.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.penstock.disagg.plan.Parallelism;
import io.penstock.examples.disaggregated.model.LatentConfig;
import io.penstock.examples.disaggregated.model.Model;
import io.penstock.examples.disaggregated.rank.NaiveModel.Facts;
import io.penstock.examples.disaggregated.rank.NaiveModel.Has;
import io.penstock.examples.disaggregated.tensors.SafetensorsWriter;
import io.penstock.examples.disaggregated.tensors.SeededTensors;
import io.penstock.examples.disaggregated.tensors.StoredType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Checkpoints of each family, with a configuration as Hugging Face writes it: the logits of a deployment are those of
/// the textbook, which reads no configuration. The file has the tensors that the textbook asked for, and no others.
final class ModelFilesTest {
  private static final int SEED = 6;
  private static final String SIZES = """
      "hidden_size": 48, "num_hidden_layers": 4, "num_attention_heads": 8, "num_key_value_heads": 4,
      "intermediate_size": 96, "vocab_size": 258, "max_position_embeddings": 64, "hidden_act": "silu",
      "bos_token_id": 1, "eos_token_id": 2, "initializer_range": 0.02, "use_cache": true, "attention_dropout": 0.0,
      "transformers_version": "4.57.1", "torch_dtype": "float32",""";

  @TempDir
  private Path folder;

  /// @param facts of the configuration
  /// @param other facts that a reader has who overlooks a key
  private record Checkpoint(String name, String config, Facts facts, Facts other) {
    @Override
    public String toString() {
      return name;
    }
  }

  static List<Checkpoint> checkpoints() {
    List<Double> plain = NaiveModel.angles(10_000, 8);
    Facts llama = Facts.tiny(1e-5, plain);
    Facts million = Facts.tiny(1e-6, NaiveModel.angles(1_000_000, 8));
    Facts latent = llama.withLatent(new LatentConfig(16, 4, 8, 8)).withAngles(NaiveModel.angles(10_000, 4));
    Facts deepseek = new Facts(48, 4, 8, 8, 4, 96, 258, 1e-6, latent.angles(), latent.windows(), latent.latent(),
        List.of(Has.NEIGHBOUR_PAIRS));
    return List.of(
        new Checkpoint("llama, new rotary keys", """
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "head_dim": 6, "attention_bias": false,
            "mlp_bias": false, "rms_norm_eps": 1e-05, "pretraining_tp": 1, "tie_word_embeddings": true,
            "rope_scaling": null, "rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"}""",
            new Facts(48, 4, 8, 4, 6, 96, 258, 1e-5, NaiveModel.angles(500_000, 6), llama.windows(), null,
                List.of(Has.TIED_EMBEDDINGS)),
            new Facts(48, 4, 8, 4, 6, 96, 258, 1e-5, NaiveModel.angles(10_000, 6), llama.windows(), null,
                List.of(Has.TIED_EMBEDDINGS))),
        new Checkpoint("llama 3 scaling and biases", """
            "architectures": ["LlamaForCausalLM"], "model_type": "llama", "head_dim": 8, "attention_bias": true,
            "mlp_bias": true, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "rope_scaling": {"rope_type": "llama3",
            "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}""",
            llama.withAngles(scaled(plain, 4, 1, 4, 32)).withHas(Has.QUERY_KEY_VALUE_BIAS, Has.OUTPUT_BIAS,
                Has.FEED_FORWARD_BIAS),
            llama.withHas(Has.QUERY_KEY_VALUE_BIAS, Has.OUTPUT_BIAS, Has.FEED_FORWARD_BIAS)),
        new Checkpoint("llama, linear scaling of a part", """
            "model_type": "llama", "head_dim": 8, "rms_norm_eps": 1e-05, "rope_theta": 10000,
            "partial_rotary_factor": 0.5, "rope_scaling": {"type": "linear", "factor": 2.0}""",
            llama.withAngles(NaiveModel.angles(10_000, 4).stream().map(angle -> angle / 2).toList()),
            llama.withAngles(plain.stream().map(angle -> angle / 2).toList())),
        new Checkpoint("mistral", """
            "architectures": ["MistralForCausalLM"], "model_type": "mistral", "head_dim": 8, "rms_norm_eps": 1e-05,
            "rope_theta": 10000.0, "sliding_window": 6, "tie_word_embeddings": false""",
            llama.withWindows(6, 6, 6, 6), llama),
        new Checkpoint("qwen 2", """
            "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "head_dim": 8, "rms_norm_eps": 1e-06,
            "rope_theta": 1000000.0, "sliding_window": 6, "max_window_layers": 2, "use_sliding_window": true""",
            million.withWindows(0, 0, 6, 6).withHas(Has.QUERY_KEY_VALUE_BIAS),
            million.withHas(Has.QUERY_KEY_VALUE_BIAS)),
        new Checkpoint("qwen 2 without a window", """
            "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "head_dim": 8, "rms_norm_eps": 1e-06,
            "rope_theta": 1000000.0, "sliding_window": 3, "max_window_layers": 2, "use_sliding_window": false,
            "use_mrope": false""",
            million.withHas(Has.QUERY_KEY_VALUE_BIAS),
            million.withWindows(0, 0, 3, 3).withHas(Has.QUERY_KEY_VALUE_BIAS)),
        new Checkpoint("qwen 3", """
            "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "head_dim": 8, "rms_norm_eps": 1e-06,
            "attention_bias": false, "max_window_layers": 4, "use_sliding_window": true, "sliding_window": 5,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"],
            "rope_parameters": {"rope_theta": 1000000, "rope_type": "default"}""",
            million.withWindows(5, 0, 5, 0).withHas(Has.HEAD_NORMS), million.withHas(Has.HEAD_NORMS)),
        new Checkpoint("phi 3", """
            "architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "head_dim": 8, "rms_norm_eps": 1e-05,
            "rope_theta": 10000.0, "rope_scaling": null, "partial_rotary_factor": 0.75, "sliding_window": null,
            "resid_pdrop": 0.0, "embd_pdrop": 0.0, "original_max_position_embeddings": 4096, "attention_bias": false""",
            llama.withAngles(NaiveModel.angles(10_000, 6)).withHas(Has.FUSED_ATTENTION, Has.FUSED_FEED_FORWARD),
            llama.withHas(Has.FUSED_ATTENTION, Has.FUSED_FEED_FORWARD)),
        new Checkpoint("glm", """
            "architectures": ["GlmForCausalLM"], "model_type": "glm", "head_dim": 8, "rms_norm_eps": 1e-05,
            "attention_bias": true, "rope_parameters": {"rope_theta": 10000, "rope_type": "default",
            "partial_rotary_factor": 0.5}""",
            llama.withAngles(NaiveModel.angles(10_000, 4)).withHas(Has.QUERY_KEY_VALUE_BIAS, Has.FUSED_FEED_FORWARD,
                Has.NEIGHBOUR_PAIRS),
            llama.withAngles(NaiveModel.angles(10_000, 4)).withHas(Has.QUERY_KEY_VALUE_BIAS,
                Has.FUSED_FEED_FORWARD)),
        new Checkpoint("deepseek", """
            "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "q_lora_rank": null,
            "kv_lora_rank": 16, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8, "v_head_dim": 8, "qk_head_dim": 12,
            "head_dim": 4, "num_key_value_heads": 8, "rms_norm_eps": 1e-06, "rope_theta": 10000.0,
            "rope_interleave": true, "attention_bias": false, "first_k_dense_replace": 4, "n_routed_experts": 256,
            "norm_topk_prob": true, "routed_scaling_factor": 2.5""",
            deepseek, deepseek.withHas()));
  }

  /// As the model's authors write it: by wave lengths.
  private static List<Double> scaled(List<Double> angles, double factor, double low, double high, int positions) {
    return angles.stream().map(angle -> {
      double length = 2 * Math.PI / angle;
      if (length < positions / high) {
        return angle;
      } else if (length > positions / low) {
        return angle / factor;
      }
      double smooth = (positions / length - low) / (high - low);
      return (1 - smooth) * angle / factor + smooth * angle;
    }).toList();
  }

  @ParameterizedTest
  @MethodSource("checkpoints")
  void checkpoint_isComputedAsItsConfigurationSays(Checkpoint checkpoint) throws IOException {
    int[] prompt = RandomDeployment.prompt(new SplittableRandom(SEED), 19);
    SafetensorsWriter file = new SafetensorsWriter(new SeededTensors(SEED), StoredType.F32);
    double[] expected = new NaiveModel(checkpoint.facts(), file).logits(prompt);
    file.write(folder.resolve("model.safetensors"));
    Files.writeString(folder.resolve("config.json"), config(checkpoint.config()));

    float[] logits = logits(Model.read(folder), prompt);

    assertThat(difference(logits, expected)).as("greatest difference").isCloseTo(0, within(1e-4));
    assertThat(difference(logits, new NaiveModel(checkpoint.other(), new SeededTensors(SEED)).logits(prompt)))
        .as("difference from a reader who overlooks a key").isGreaterThan(1e-2);
  }

  /// Keys of the checkpoint replace those of all.
  private static String config(String own) {
    String sizes = own.contains("num_key_value_heads") ? SIZES.replace("\"num_key_value_heads\": 4,", "") : SIZES;
    return "{" + sizes + own + "}";
  }

  private static float[] logits(Model model, int[] prompt) {
    Deployment deployment = Deployment.of(model, new Parallelism(4, 2, 1, 2, 1), KvFormat.defaults());
    try (Instance instance = new Instance(deployment, 1, 32); Sequence sequence = instance.open("request")) {
      return Prefill.of(sequence, prompt).logits();
    }
  }

  private static double difference(float[] logits, double[] expected) {
    return IntStream.range(0, expected.length).mapToDouble(i -> Math.abs(logits[i] - expected[i])).max().orElseThrow();
  }
}
