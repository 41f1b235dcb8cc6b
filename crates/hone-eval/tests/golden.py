"""Prints the golden figures of tests/eval/learn.rs (numpy, scikit-learn needed)."""
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score, average_precision_score, f1_score, normalized_mutual_info_score
def data(n,d,shift,scale):
    i=np.arange(n)[:,None]; j=np.arange(d)[None,:]
    x=np.sin(1.7*i+0.9*j*j+0.3*i*j)*scale**j+shift
    y=(np.sin(2.3*np.arange(n))+ x[:,0]-shift + 0.5*np.cos(5.1*np.arange(n)))>0.2
    return x.astype(np.float32).astype(np.float64), y
for (n,d,shift,scale,C) in [(60,4,0.,1.,1.),(40,3,5.,1.,100.),(30,12,-1.,0.5,0.1),(80,6,0.,3.,10.),(50,5,2.,0.1,1e4)]:
    x,y=data(n,d,shift,scale)
    m=LogisticRegression(C=C,tol=1e-12,max_iter=100000,solver='lbfgs').fit(x,y)
    m2=LogisticRegression(C=C,tol=1e-12,max_iter=10000,solver='newton-cholesky').fit(x,y)
    assert np.allclose(m.coef_,m2.coef_,rtol=1e-4,atol=1e-5),(m.coef_,m2.coef_)
    print(f"        ({n}, {d}, {shift}, {scale}, {C:.1f}, &{[float('%.7g'%v) for v in m2.coef_[0]]}, {m2.intercept_[0]:.7g}),")
i=np.arange(40); s=np.round(np.sin(1.3*i)*4)/4; y=np.sin(2.9*i)+s>0.1
print("auc",repr(roc_auc_score(y,s)),"ap",repr(average_precision_score(y,s)), y.sum())
a=(i*7%5); b=((i+i//7)%3); print("nmi",repr(normalized_mutual_info_score(a,b)), repr(normalized_mutual_info_score(a,a//2)))
T=np.array([[ (i*3+l*l)%4==0 for l in range(5)] for i in range(30)]); G=np.array([[ (i*5+l)%3==0 and l<4 for l in range(5)] for i in range(30)])
T[:,3]=False
print("f1",f1_score(T,G,average='micro',zero_division=0),f1_score(T,G,average='macro',zero_division=0))
