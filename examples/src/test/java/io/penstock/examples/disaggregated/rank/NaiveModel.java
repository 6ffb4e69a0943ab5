package io.penstock.examples.disaggregated.rank;

import io.penstock.examples.disaggregated.model.LatentConfig;
import io.penstock.examples.disaggregated.tensors.ModelFileException;
import io.penstock.examples.disaggregated.tensors.TensorSource;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// The textbook: all tokens at once, in `double`, from the tensors as a checkpoint stores them. No cache, no blocks, no
/// tiles; latents are unfolded into keys and values. It reads no configuration: a test states the facts.
final class NaiveModel {
  private final Facts facts;
  private final TensorSource source;
  private final Map<String, float[]> tensors = new HashMap<>();

  /// Biases, norms and matrices that a model has.
  enum Has {
    QUERY_KEY_VALUE_BIAS, OUTPUT_BIAS, FEED_FORWARD_BIAS, HEAD_NORMS, FUSED_ATTENTION, FUSED_FEED_FORWARD,
    TIED_EMBEDDINGS, NEIGHBOUR_PAIRS
  }

  /// @param angles of the rotary pairs, a position; their number is half of the turned elements
  /// @param windows tokens that each layer sees, 0 for all
  record Facts(int hidden, int layers, int heads, int kvHeads, int headDim, int wide, int vocab, double eps,
      List<Double> angles, List<Integer> windows, @Nullable LatentConfig latent, List<Has> has) {
    /// Four layers of the sizes of the story's tiny model.
    static Facts tiny(double eps, List<Double> angles, Has... has) {
      return new Facts(48, 4, 8, 4, 8, 96, 258, eps, angles, List.of(0, 0, 0, 0), null, List.of(has));
    }

    Facts withAngles(List<Double> newAngles) {
      return new Facts(hidden, layers, heads, kvHeads, headDim, wide, vocab, eps, newAngles, windows, latent, has);
    }

    Facts withWindows(Integer... newWindows) {
      return new Facts(hidden, layers, heads, kvHeads, headDim, wide, vocab, eps, angles, List.of(newWindows), latent,
          has);
    }

    Facts withLatent(LatentConfig newLatent) {
      return new Facts(hidden, layers, heads, kvHeads, headDim, wide, vocab, eps, angles, windows, newLatent, has);
    }

    Facts withHas(Has... newHas) {
      return new Facts(hidden, layers, heads, kvHeads, headDim, wide, vocab, eps, angles, windows, latent,
          List.of(newHas));
    }

    boolean has(Has what) {
      return has.contains(what);
    }
  }

  NaiveModel(Facts facts, TensorSource source) {
    this.facts = facts;
    this.source = source;
  }

  /// Angles without scaling.
  static List<Double> angles(double theta, int width) {
    return IntStream.range(0, width / 2).mapToObj(i -> Math.pow(theta, -2.0 * i / width)).toList();
  }

  private float[] tensor(String name, int... shape) {
    return tensors.computeIfAbsent(name, missing -> {
      try {
        return source.tensor(missing, shape);
      } catch (ModelFileException e) {
        throw new UncheckedIOException(e);
      }
    });
  }

  /// Logits of the token after the last one.
  double[] logits(int[] tokens) {
    int hidden = facts.hidden;
    float[] embedding = tensor("model.embed_tokens.weight", facts.vocab, hidden);
    double[][] xs = new double[tokens.length][hidden];
    for (int t = 0; t < tokens.length; t++) {
      for (int i = 0; i < hidden; i++) {
        xs[t][i] = embedding[tokens[t] * hidden + i];
      }
    }
    for (int layer = 0; layer < facts.layers; layer++) {
      layer("model.layers." + layer + ".", facts.windows.get(layer), xs);
    }
    double[] last = norm("model.norm.weight", xs[xs.length - 1], facts.eps);
    return facts.has(Has.TIED_EMBEDDINGS)
        ? product(embedding, last)
        : product(tensor("lm_head.weight", facts.vocab, hidden), last);
  }

  private void layer(String name, int window, double[][] xs) {
    double[][] normed = new double[xs.length][];
    for (int t = 0; t < xs.length; t++) {
      normed[t] = norm(name + "input_layernorm.weight", xs[t], facts.eps);
    }
    double[][] attended = attention(name + "self_attn.", window, normed);
    for (int t = 0; t < xs.length; t++) {
      add(xs[t], attended[t]);
      double[] x = norm(name + "post_attention_layernorm.weight", xs[t], facts.eps);
      add(xs[t], feedForward(name + "mlp.", x));
    }
  }

  private double[] feedForward(String name, double[] x) {
    int wide = facts.wide;
    boolean bias = facts.has(Has.FEED_FORWARD_BIAS);
    double[] both = facts.has(Has.FUSED_FEED_FORWARD)
        ? linear(name + "gate_up_proj", 2 * wide, x, bias)
        : joined(linear(name + "gate_proj", wide, x, bias), linear(name + "up_proj", wide, x, bias));
    double[] gated = new double[wide];
    for (int i = 0; i < wide; i++) {
      gated[i] = both[i] / (1 + Math.exp(-both[i])) * both[wide + i];
    }
    return linear(name + "down_proj", facts.hidden, gated, bias);
  }

  private double[][] attention(String name, int window, double[][] xs) {
    int n = xs.length;
    double[][][] queries = new double[n][facts.heads][];
    double[][][] keys = new double[n][facts.heads][];
    double[][][] values = new double[n][facts.heads][];
    for (int t = 0; t < n; t++) {
      for (int head = 0; head < facts.heads; head++) {
        project(name, xs[t], t, head, queries[t], keys[t], values[t]);
      }
    }
    double[][] out = new double[n][];
    for (int t = 0; t < n; t++) {
      int width = values[t][0].length;
      double[] all = new double[facts.heads * width];
      for (int head = 0; head < facts.heads; head++) {
        double[] weights = new double[t + 1];
        double sum = 0;
        for (int s = 0; s <= t; s++) {
          boolean seen = window == 0 || t - s < window;
          weights[s] =
              seen ? Math.exp(dot(queries[t][head], keys[s][head]) / Math.sqrt(queries[t][head].length)) : 0;
          sum += weights[s];
        }
        for (int s = 0; s <= t; s++) {
          for (int i = 0; i < width; i++) {
            all[head * width + i] += weights[s] / sum * values[s][head][i];
          }
        }
      }
      out[t] = linear(name + "o_proj", facts.hidden, all, facts.has(Has.OUTPUT_BIAS));
    }
    return out;
  }

  private void project(String name, double[] x, int position, int head, double[][] query, double[][] key,
      double[][] value) {
    LatentConfig latent = facts.latent;
    if (latent == null) {
      int width = facts.headDim;
      int kvHead = head / (facts.heads / facts.kvHeads);
      double[] all = queriesKeysValues(name, x);
      query[head] = placed(name + "q_norm.weight", part(all, head, width), position);
      key[head] = placed(name + "k_norm.weight", part(all, facts.heads + kvHead, width), position);
      value[head] = part(all, facts.heads + facts.kvHeads + kvHead, width);
      return;
    }
    int nope = latent.qkNopeHeadDim();
    int rope = latent.qkRopeHeadDim();
    double[] q = part(linear(name + "q_proj", facts.heads * (nope + rope), x, false), head, nope + rope);
    query[head] = joined(slice(q, 0, nope), turned(slice(q, nope, rope), position));
    double[] down = linear(name + "kv_a_proj_with_mqa", latent.kvLoraRank() + rope, x, false);
    double[] c = norm(name + "kv_a_layernorm.weight", slice(down, 0, latent.kvLoraRank()), 1e-6);
    double[] up = part(linear(name + "kv_b_proj", facts.heads * (nope + latent.vHeadDim()), c, false), head,
        nope + latent.vHeadDim());
    key[head] = joined(slice(up, 0, nope), turned(slice(down, latent.kvLoraRank(), rope), position));
    value[head] = slice(up, nope, latent.vHeadDim());
  }

  /// Queries of all heads, then keys, then values.
  private double[] queriesKeysValues(String name, double[] x) {
    int queries = facts.heads * facts.headDim;
    int cached = facts.kvHeads * facts.headDim;
    boolean bias = facts.has(Has.QUERY_KEY_VALUE_BIAS);
    return facts.has(Has.FUSED_ATTENTION)
        ? linear(name + "qkv_proj", queries + 2 * cached, x, bias)
        : joined(linear(name + "q_proj", queries, x, bias),
            joined(linear(name + "k_proj", cached, x, bias), linear(name + "v_proj", cached, x, bias)));
  }

  private double[] placed(String normName, double[] head, int position) {
    return turned(facts.has(Has.HEAD_NORMS) ? norm(normName, head, facts.eps) : head, position);
  }

  private double[] turned(double[] x, int position) {
    int pairs = facts.angles.size();
    double[] y = x.clone();
    for (int i = 0; i < pairs; i++) {
      int a = facts.has(Has.NEIGHBOUR_PAIRS) ? 2 * i : i;
      int b = facts.has(Has.NEIGHBOUR_PAIRS) ? 2 * i + 1 : pairs + i;
      double angle = position * facts.angles.get(i);
      y[a] = x[a] * Math.cos(angle) - x[b] * Math.sin(angle);
      y[b] = x[b] * Math.cos(angle) + x[a] * Math.sin(angle);
    }
    return y;
  }

  private double[] norm(String name, double[] x, double eps) {
    float[] weight = tensor(name, x.length);
    double scale = 1 / Math.sqrt(dot(x, x) / x.length + eps);
    double[] y = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      y[i] = x[i] * scale * weight[i];
    }
    return y;
  }

  private double[] linear(String name, int outputs, double[] x, boolean hasBias) {
    double[] y = product(tensor(name + ".weight", outputs, x.length), x);
    if (hasBias) {
      float[] bias = tensor(name + ".bias", outputs);
      for (int i = 0; i < outputs; i++) {
        y[i] += bias[i];
      }
    }
    return y;
  }

  private static double[] product(float[] stored, double[] x) {
    double[] y = new double[stored.length / x.length];
    for (int o = 0; o < y.length; o++) {
      for (int i = 0; i < x.length; i++) {
        y[o] += stored[o * x.length + i] * x[i];
      }
    }
    return y;
  }

  private static double dot(double[] a, double[] b) {
    double sum = 0;
    for (int i = 0; i < a.length; i++) {
      sum += a[i] * b[i];
    }
    return sum;
  }

  private static void add(double[] to, double[] from) {
    for (int i = 0; i < to.length; i++) {
      to[i] += from[i];
    }
  }

  private static double[] part(double[] x, int number, int width) {
    return slice(x, number * width, width);
  }

  private static double[] slice(double[] x, int from, int count) {
    double[] y = new double[count];
    System.arraycopy(x, from, y, 0, count);
    return y;
  }

  private static double[] joined(double[] a, double[] b) {
    double[] y = new double[a.length + b.length];
    System.arraycopy(a, 0, y, 0, a.length);
    System.arraycopy(b, 0, y, a.length, b.length);
    return y;
  }
}
