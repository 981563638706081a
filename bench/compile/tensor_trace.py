"""Traces tensor programs with gradients to MLIR text in the form that exporters of JAX programs
produce.

Every elementwise op and every broadcast is a linalg.generic. Named reductions are fill + generic.
Contractions are generics in the order (batch, free, free), followed by a transpose. Equal ops are
written once, as after CSE."""



class Tensor:
    """A value of the program. `diff`: it depends on a parameter, so gradients flow through it."""

    def __init__(self, name, shape, dtype, diff=False):
        self.name, self.shape, self.dtype, self.diff = name, tuple(shape), dtype, diff

    @property
    def type(self):
        return "tensor<" + "".join(f"{n}x" for n in self.shape) + self.dtype + ">"


def affine_map(n_loops, results):
    loops = ", ".join(f"d{i}" for i in range(n_loops))
    return f"affine_map<({loops}) -> ({', '.join(str(r) for r in results)})>"


def identity(rank):
    return [f"d{i}" for i in range(rank)]


class Trace:
    """Builds the program: each op is a method. `tape` records how to compute the gradient of each
    op."""

    def __init__(self, captured_concat):
        self.captured_concat = captured_concat
        self.lines, self.maps, self.known, self.tape = [], {}, {}, []
        self.n_ops = self.n_names = 0

    # ---- Writing ----

    def emit(self, text, shape, dtype):
        """Returns the value of the op `text`, and writes the op if it is new."""
        if text not in self.known:
            name = f"%{self.n_names}"
            self.n_names += 1
            self.n_ops += 1
            self.lines.append(f"    {name} = {text}")
            self.known[text] = Tensor(name, shape, dtype)
        return self.known[text]

    def map(self, n_loops, results):
        return self.maps.setdefault(affine_map(n_loops, results), f"#map{len(self.maps)}")

    def scalar(self, text, dtype):
        """A scalar constant. It is not a tensor, so it does not count as an op."""
        key = f"arith.constant {text} : {dtype}"
        if key not in self.known:
            self.lines.append(f"    %c{len(self.known)}s = {key}")
            self.known[key] = Tensor(f"%c{len(self.known)}s", (), dtype)
        return self.known[key].name

    def empty(self, shape, dtype):
        return self.emit(f"tensor.empty() : {Tensor('', shape, dtype).type}", shape, dtype)

    def fill(self, text, shape, dtype="f32"):
        scalar, init = self.scalar(text, dtype), self.empty(shape, dtype)
        return self.emit(f"linalg.fill ins({scalar} : {dtype}) outs({init.name} : {init.type}) -> {init.type}", shape, dtype)

    def generic(self, ins, maps, init, body, n_loops=None, out_map=None):
        """Emits a generic that reads `ins` through `maps` (lists of results). In `body`, {0}, {1},
        ... stand for the inputs and {o} for the init."""
        n_loops = len(init.shape) if n_loops is None else n_loops
        out_map = identity(len(init.shape)) if out_map is None else out_map
        kinds = ['"parallel"' if f"d{i}" in out_map else '"reduction"' for i in range(n_loops)]
        names = [f"%in_{i}" for i in range(len(ins))]
        args = [f"{n}: {x.dtype}" for n, x in zip(names, ins)] + [f"%out: {init.dtype}"]
        all_maps = ", ".join(self.map(n_loops, m) for m in [*maps, out_map])
        reads = ""
        if ins:
            reads = f" ins({', '.join(x.name for x in ins)} : {', '.join(x.type for x in ins)})"
        code = "\n".join("      " + line.format(*names, o="%out") for line in body)
        return self.emit(
            f"linalg.generic {{indexing_maps = [{all_maps}], iterator_types = [{', '.join(kinds)}]}}{reads}"
            f" outs({init.name} : {init.type}) {{\n    ^bb0({', '.join(args)}):\n{code}\n    }} -> {init.type}",
            init.shape, init.dtype)

    # ---- Gradients ----

    def record(self, outs, parents, vjps):
        """Records an op: vjps[i] computes the gradient of parents[i] from those of `outs`. It is
        called only where gradients are needed."""
        for out in outs:
            if any(p.diff for p in parents) and not out.diff:
                out.diff = True
                if out is outs[-1]:
                    self.tape.append((outs, parents, vjps))
        return outs[0] if len(outs) == 1 else outs

    def gradients(self, of, wanted, seed=None):
        """Returns the gradients of `wanted`, from the gradient `seed` of the value `of` (None: `of`
        is a scalar with gradient 1)."""
        grads = {id(of): seed or self.constant("1.000000e+00")}
        for outs, parents, vjps in reversed(list(self.tape)):
            if not any(id(o) in grads for o in outs):
                continue
            gs = [grads[id(o)] if id(o) in grads else self.fill("0.000000e+00", o.shape) for o in outs]
            for parent, vjp in zip(parents, vjps):
                if parent.diff:
                    g = vjp(*gs)
                    grads[id(parent)] = self.add(grads[id(parent)], g) if id(parent) in grads else g
        return [grads[id(w)] for w in wanted]

    # ---- Elementwise ops ----

    def elementwise(self, body, *xs, dtype=None):
        init = self.empty(xs[0].shape, dtype or xs[0].dtype)
        full = identity(len(init.shape))
        return self.generic(xs, [full] * len(xs), init, body)

    def arith(self, op, *xs):
        body = [f"%v = {op} {', '.join('{%d}' % i for i in range(len(xs)))} : {xs[0].dtype}", f"linalg.yield %v : {xs[0].dtype}"]
        return self.elementwise(body, *xs)

    def add(self, a, b):
        return self.record([self.arith("arith.addf", a, b)], [a, b], [lambda g: g, lambda g: g])

    def sub(self, a, b):
        return self.record([self.arith("arith.subf", a, b)], [a, b], [lambda g: g, self.neg])

    def mul(self, a, b):
        return self.record([self.arith("arith.mulf", a, b)], [a, b], [lambda g: self.mul(g, b), lambda g: self.mul(a, g)])

    def div(self, a, b):
        return self.record([self.arith("arith.divf", a, b)], [a, b],
                           [lambda g: self.div(g, b), lambda g: self.div(self.mul(self.neg(g), a), self.mul(b, b))])

    def neg(self, x):
        return self.record([self.arith("arith.negf", x)], [x], [self.neg])

    def exp(self, x):
        y = self.arith("math.exp", x)
        return self.record([y], [x], [lambda g: self.mul(g, y)])

    def log(self, x):
        return self.record([self.arith("math.log", x)], [x], [lambda g: self.div(g, x)])

    def rsqrt(self, x):
        y = self.arith("math.rsqrt", x)
        return self.record([y], [x], [lambda g: self.mul(g, self.mul(self.like(x, "-5.000000e-01"), self.div(y, x)))])

    def logistic(self, x):
        one = self.like(x, "1.000000e+00")
        y = self.arith("arith.divf", one, self.arith("arith.addf", one, self.arith("math.exp", self.arith("arith.negf", x))))
        return self.record([y], [x], [lambda g: self.mul(g, self.mul(y, self.sub(one, y)))])

    def select(self, mask, a, b):
        y = self.elementwise(["%v = arith.select {0}, {1}, {2} : f32", "linalg.yield %v : f32"], mask, a, b, dtype="f32")
        zeros = lambda: self.like(a, "0.000000e+00")
        return self.record([y], [a, b], [lambda g: self.select(mask, g, zeros()), lambda g: self.select(mask, zeros(), g)])

    def compare(self, predicate, a, b):
        return self.elementwise([f"%v = arith.cmpi {predicate}, {{0}}, {{1}} : {a.dtype}", "linalg.yield %v : i1"], a, b, dtype="i1")

    def to_float(self, op, x):
        return self.elementwise([f"%v = {op} {{0}} : {x.dtype} to f32", "linalg.yield %v : f32"], x, dtype="f32")

    # ---- Constants, iotas ----

    def constant(self, text, dtype="f32"):
        return self.emit(f"arith.constant dense<{text}> : tensor<{dtype}>", (), dtype)

    def like(self, x, text):
        return self.broadcast(self.constant(text), x.shape, ())

    def iota(self, shape, dim):
        body = [f"%i = linalg.index {dim} : index", "%v = arith.index_cast %i : index to i32", "linalg.yield %v : i32"]
        return self.generic([], [], self.empty(shape, "i32"), body)

    # ---- Shapes ----

    def broadcast(self, x, shape, dims):
        """Broadcasts: dimension i of `x` becomes dims[i]; a dimension of size 1 may grow."""
        source = [0 if n == 1 and shape[d] != 1 else f"d{d}" for n, d in zip(x.shape, dims)]
        y = self.generic([x], [source], self.empty(shape, x.dtype), [f"linalg.yield {{0}} : {x.dtype}"])
        new = [d for d in range(len(shape)) if f"d{d}" not in source]
        return self.record([y], [x], [lambda g: self.reshape(self.reduce(g, new, "arith.addf"), x.shape)])

    def transpose(self, x, order):
        """Transposes: dimension i of the result is dimension order[i] of `x`."""
        if list(order) == list(range(len(order))):
            return x
        inverse = [order.index(d) for d in range(len(order))]
        init = self.empty([x.shape[d] for d in order], x.dtype)
        y = self.generic([x], [[f"d{d}" for d in inverse]], init, [f"linalg.yield {{0}} : {x.dtype}"])
        return self.record([y], [x], [lambda g: self.transpose(g, inverse)])

    def reshape(self, x, shape):
        """Splits or joins dimensions, but not both."""
        shape = tuple(shape)
        if x.shape == shape:
            return x
        expands = len(shape) > len(x.shape)
        small, large = (x.shape, shape) if expands else (shape, x.shape)
        groups, d = [], 0
        for n in small:
            group, product = [], 1
            while product < n or not group:
                group.append(d)
                product *= large[d]
                d += 1
            groups.append(group)
        if groups:
            groups[-1] += range(d, len(large))
        out = Tensor("", shape, x.dtype)
        sizes = f" output_shape {list(shape)}" if expands else ""
        op = "expand_shape" if expands else "collapse_shape"
        y = self.emit(f"tensor.{op} {x.name} {groups}{sizes} : {x.type} into {out.type}", shape, x.dtype)
        return self.record([y], [x], [lambda g: self.reshape(g, x.shape)])

    def slice(self, x, offset, size):
        """Slices the last dimension."""
        out = Tensor("", x.shape[:-1] + (size,), x.dtype)
        offsets = [0] * (len(x.shape) - 1) + [offset]
        return self.emit(f"tensor.extract_slice {x.name}{offsets} {list(out.shape)} {[1] * len(offsets)} : {x.type} to {out.type}",
                         out.shape, x.dtype)

    def halves(self, x):
        h = x.shape[-1] // 2
        outs = [self.slice(x, 0, h), self.slice(x, h, h)]
        return self.record(outs, [x], [self.concat])

    def concat(self, a, b):
        """Concatenates along the last dimension: tensor.concat, or a generic that reads both as
        captured tensors."""
        h, rank = a.shape[-1], len(a.shape)
        shape = a.shape[:-1] + (h + b.shape[-1],)
        out = Tensor("", shape, a.dtype)
        if not self.captured_concat:
            y = self.emit(f"tensor.concat dim({rank - 1}) {a.name}, {b.name} : ({a.type}, {b.type}) -> {out.type}", shape, a.dtype)
        else:
            h_name, before = self.scalar(str(h), "index"), ", ".join(f"%i{d}" for d in range(rank - 1))
            body = [f"%i{d} = linalg.index {d} : index" for d in range(rank)] + [
                f"%first = arith.cmpi ult, %i{rank - 1}, {h_name} : index",
                "%v = scf.if %first -> (f32) {{",
                f"  %x = tensor.extract {a.name}[{before}, %i{rank - 1}] : {a.type}",
                "  scf.yield %x : f32", "}} else {{",
                f"  %k = arith.subi %i{rank - 1}, {h_name} : index",
                f"  %x = tensor.extract {b.name}[{before}, %k] : {b.type}",
                "  scf.yield %x : f32", "}}", "linalg.yield %v : f32"]
            y = self.generic([], [], self.empty(shape, a.dtype), body)
        return self.record([y], [a, b], [lambda g: self.slice(g, 0, h), lambda g: self.slice(g, h, b.shape[-1])])

    # ---- Reductions and contractions ----

    def reduce(self, x, dims, op):
        if not dims:
            return x
        kept = [d for d in range(len(x.shape)) if d not in dims]
        init = self.fill("0.000000e+00" if op == "arith.addf" else "0xFF800000", [x.shape[d] for d in kept])
        n = len(x.shape)
        y = self.generic([x], [identity(n)], init, [f"%v = {op} {{o}}, {{0}} : f32", "linalg.yield %v : f32"], n,
                         [f"d{d}" for d in kept])
        if op != "arith.addf":
            return y  # the maximum is subtracted only to limit the range, so it has no gradient
        return self.record([y], [x], [lambda g: self.broadcast(g, x.shape, kept)])

    def einsum(self, spec, a, b):
        sources, out = spec.split("->")
        left, right = sources.split(",")
        sizes = dict(zip(left + right, a.shape + b.shape))
        batch = [c for c in left if c in right and c in out]
        natural = batch + [c for c in left if c not in right] + [c for c in right if c not in left]
        loops = natural + [c for c in left if c in right and c not in out]
        at = lambda letters: [f"d{loops.index(c)}" for c in letters]
        init = self.fill("0.000000e+00", [sizes[c] for c in natural])
        y = self.generic([a, b], [at(left), at(right)], init,
                         ["%m = arith.mulf {0}, {1} : f32", "%v = arith.addf {o}, %m : f32", "linalg.yield %v : f32"],
                         len(loops), at(natural))
        order = "".join(natural)
        self.record([y], [a, b], [lambda g: self.einsum(f"{order},{right}->{left}", g, b),
                                  lambda g: self.einsum(f"{left},{order}->{right}", a, g)])
        return self.transpose(y, [natural.index(c) for c in out])

    def mean_last(self, x):
        """Returns the mean over the last dimension, which stays as size 1."""
        rank = len(x.shape)
        total = self.broadcast(self.reduce(x, [rank - 1], "arith.addf"), x.shape[:-1] + (1,), range(rank - 1))
        return self.div(total, self.like(total, f"{x.shape[-1]:e}"))


